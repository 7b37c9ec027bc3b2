"""Which patches straddle a boundary, and of which kind.

A boundary passes through a patch of the feature grid where two neighbouring pixels, both with their
centres in the patch, lie on different sides of it. A boundary along the line between two patches
passes through neither.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partdino.evaluation.study.ridges import Crossings, find_label_borders
from partdino.images.resampling import area_axis

# A patch has one group. INNER: a boundary inside the object passes through it. SILHOUETTE: object
# and background meet in it, whatever else does. INTERIOR: neither.
GROUPS = ("interior", "inner", "silhouette")
INTERIOR, INNER, SILHOUETTE = range(len(GROUPS))

_MOSTLY = 0.5  # share of its area above which a patch is foreground


@dataclass(frozen=True, eq=False)
class PatchPlaces:
    """The foreground patches of an image, in raster order.

    Attributes
    ----------
    row, column
        int (N,), the place in the feature grid.
    strength
        float32 (N,), the strongest boundary inside the object that passes through; 0 for none.
    silhouette
        bool (N,), whether object and background meet in the patch.
    """

    row: np.ndarray
    column: np.ndarray
    strength: np.ndarray
    silhouette: np.ndarray

    def groups(self, threshold: float) -> np.ndarray:
        """Return int (N,), the group of every patch: only boundaries of this strength count."""
        return group_patches(self.strength >= threshold, self.silhouette)


def group_patches(inner: np.ndarray, silhouette: np.ndarray) -> np.ndarray:
    """Return the group, an index of `GROUPS`, for bool arrays of what passes through a patch."""
    return np.select([silhouette, inner], [SILHOUETTE, INNER], INTERIOR)


def foreground_patches(
    foreground: np.ndarray, ridges: Crossings, grid: tuple[int, int]
) -> PatchPlaces:
    """Find the foreground patches of an image and what passes through them.

    Parameters
    ----------
    foreground
        bool (H, W), True = object.
    ridges
        The boundaries of the image, at the same size.
    grid
        (gh, gw), the size of the feature grid that covers the image.

    Returns
    -------
    PatchPlaces
        Those with more than half of their area in the foreground.
    """
    row, column = np.nonzero(patch_shares(foreground, grid) > _MOSTLY)
    strength = strongest_crossing(ridges, foreground, grid)
    silhouette = strongest_crossing(
        find_label_borders(foreground.astype(np.int32)), np.ones_like(foreground), grid
    )
    return PatchPlaces(row, column, strength[row, column], silhouette[row, column] > 0)


def true_groups(truth: np.ndarray, patches: PatchPlaces, grid: tuple[int, int]) -> np.ndarray:
    """Group patches by the true boundaries instead.

    Parameters
    ----------
    truth
        int (H, W), 0 = not labelled, 1..P = parts.
    patches
        The patches.
    grid
        (gh, gw).

    Returns
    -------
    int (N,): inner where two different parts meet, silhouette where a part meets what is not
    labelled.
    """
    labelled = truth > 0
    parts = strongest_crossing(find_label_borders(truth), labelled, grid)
    edge = strongest_crossing(
        find_label_borders(labelled.astype(np.int32)), np.ones_like(labelled), grid
    )
    at = patches.row, patches.column
    return group_patches(parts[at] > 0, edge[at] > 0)


def patch_shares(mask: np.ndarray, grid: tuple[int, int]) -> np.ndarray:
    """Return float64 (gh, gw), the share of each patch's area that lies in a bool (H, W) mask."""
    height, width = mask.shape
    down, across = area_axis(grid[0], height), area_axis(grid[1], width)
    return (down @ mask.astype(np.int64) @ across.T) / mask.size


def strongest_crossing(
    crossings: Crossings, within: np.ndarray, grid: tuple[int, int]
) -> np.ndarray:
    """Find the strongest boundary that passes through each patch.

    Parameters
    ----------
    crossings
        Boundaries of an image of (H, W) pixels.
    within
        bool (H, W): only steps from and to such pixels count.
    grid
        (gh, gw).

    Returns
    -------
    float32 (gh, gw), 0 where none passes through.
    """
    patches = _patch_of_pixels(within.shape, grid)[crossings.pixels]
    counts = (patches[0] == patches[1]) & within.ravel()[crossings.pixels].all(axis=0)
    strongest = np.zeros(grid, np.float32)
    np.maximum.at(strongest.ravel(), patches[0][counts], crossings.strength[counts])
    return strongest


def _patch_of_pixels(size: tuple[int, int], grid: tuple[int, int]) -> np.ndarray:
    """Return int (H * W,), the flat index of the patch that holds each pixel's centre."""
    rows, columns = (
        (2 * np.arange(pixels) + 1) * patches // (2 * pixels)
        for pixels, patches in zip(size, grid, strict=True)
    )
    return (rows[:, None] * grid[1] + columns).ravel()
