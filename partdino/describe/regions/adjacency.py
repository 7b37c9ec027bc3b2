"""Which regions touch, how long their shared border is and how strong the boundary along it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Borders:
    """Every pair of neighbouring pixels that lie in different regions, grouped by pair of regions.

    Attributes
    ----------
    edges
        int32 (E, 2): the touching regions, lower number first, in ascending order.
    pixels
        int64 (2, P): flat indices of the two pixels of every pair.
    edge
        int64 (P,): the row of `edges` that each pixel pair belongs to.
    """

    edges: np.ndarray
    pixels: np.ndarray
    edge: np.ndarray

    def heights(self, boundary_map: np.ndarray) -> np.ndarray:
        """Return what it takes to cross each pixel pair: the higher of its two boundary values."""
        return boundary_map.ravel()[self.pixels].max(axis=0)


def find_borders(regions: np.ndarray) -> Borders:
    """Find the borders between 4-connected neighbours of an int (H, W) map numbered from 0."""
    width = regions.shape[1]
    across = np.flatnonzero(regions[:, :-1] != regions[:, 1:])
    across += across // max(1, width - 1)  # rows of pairs are shorter than those of pixels
    down = np.flatnonzero(regions[:-1] != regions[1:])
    pixels = np.stack([np.concatenate([across, down]), np.concatenate([across + 1, down + width])])
    first, second = regions.ravel()[pixels].astype(np.int64)
    low, high = np.minimum(first, second), np.maximum(first, second)
    count = int(regions.max()) + 1
    keys, edge = np.unique(low * count + high, return_inverse=True)
    edges = np.stack(np.divmod(keys, count), axis=1).astype(np.int32)
    return Borders(edges, pixels, edge)


def region_adjacency(
    regions: np.ndarray, boundary_map: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Build the region adjacency graph of a region map.

    Parameters
    ----------
    regions
        int (H, W), regions numbered from 0.
    boundary_map
        float (H, W) in [0, 1], 1 = boundary. Without one every strength is 0.

    Returns
    -------
    edges
        int32 (E, 2), pairs of regions that touch (4-connectivity), the lower number first, in
        ascending order.
    border_length
        int32 (E,), the number of neighbouring pixel pairs along the shared border, in pixels.
    strength
        float32 (E,), the boundary map along the shared border: the mean over those pixel pairs of
        the higher of their two values.
    """
    borders = find_borders(regions)
    count = len(borders.edges)
    length = np.bincount(borders.edge, minlength=count)
    if boundary_map is None:
        strength = np.zeros(count)
    else:
        total = np.bincount(borders.edge, borders.heights(boundary_map), minlength=count)
        strength = total / length
    return borders.edges, length.astype(np.int32), strength.astype(np.float32)
