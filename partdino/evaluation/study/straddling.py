"""Which patches straddle a boundary, and of which kind.

A boundary passes through a cell of the feature grid where two neighbouring pixels, both with their
centres in the cell, lie on different sides of it. A boundary along the line between two cells
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

_MOSTLY = 0.5  # share of its area above which a cell is foreground


@dataclass(frozen=True, eq=False)
class Cells:
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
        return group_cells(self.strength >= threshold, self.silhouette)


def group_cells(inner: np.ndarray, silhouette: np.ndarray) -> np.ndarray:
    """Return the group, an index of `GROUPS`, for bool arrays of what passes through a patch."""
    return np.select([silhouette, inner], [SILHOUETTE, INNER], INTERIOR)


def foreground_patches(foreground: np.ndarray, crests: Crossings, grid: tuple[int, int]) -> Cells:
    """Find the foreground patches of an image and what passes through them.

    Parameters
    ----------
    foreground
        bool (H, W), True = object.
    crests
        The boundaries of the image, at the same size.
    grid
        (gh, gw), the size of the feature grid that covers the image.

    Returns
    -------
    Cells
        Those with more than half of their area in the foreground.
    """
    row, column = np.nonzero(cell_shares(foreground, grid) > _MOSTLY)
    strength = strongest_crossing(crests, foreground, grid)
    silhouette = strongest_crossing(
        find_label_borders(foreground.astype(np.int32)), np.ones_like(foreground), grid
    )
    return Cells(row, column, strength[row, column], silhouette[row, column] > 0)


def true_groups(truth: np.ndarray, cells: Cells, grid: tuple[int, int]) -> np.ndarray:
    """Group patches by the true boundaries instead.

    Parameters
    ----------
    truth
        int (H, W), 0 = not labelled, 1..P = parts.
    cells
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
    at = cells.row, cells.column
    return group_cells(parts[at] > 0, edge[at] > 0)


def cell_shares(mask: np.ndarray, grid: tuple[int, int]) -> np.ndarray:
    """Return float64 (gh, gw), the share of each cell's area that lies in a bool (H, W) mask."""
    height, width = mask.shape
    down, across = area_axis(grid[0], height), area_axis(grid[1], width)
    return (down @ mask.astype(np.int64) @ across.T) / mask.size


def strongest_crossing(
    crossings: Crossings, within: np.ndarray, grid: tuple[int, int]
) -> np.ndarray:
    """Find the strongest boundary that passes through each cell.

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
    cells = _cell_of_pixels(within.shape, grid)[crossings.pixels]
    counts = (cells[0] == cells[1]) & within.ravel()[crossings.pixels].all(axis=0)
    strongest = np.zeros(grid, np.float32)
    np.maximum.at(strongest.ravel(), cells[0][counts], crossings.strength[counts])
    return strongest


def _cell_of_pixels(size: tuple[int, int], grid: tuple[int, int]) -> np.ndarray:
    """Return int (H * W,), the flat index of the cell that holds each pixel's centre."""
    rows, columns = (
        (2 * np.arange(pixels) + 1) * cells // (2 * pixels)
        for pixels, cells in zip(size, grid, strict=True)
    )
    return (rows[:, None] * grid[1] + columns).ravel()
