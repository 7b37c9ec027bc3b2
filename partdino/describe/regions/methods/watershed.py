"""Regions from a boundary map: watershed, with the shallow basins merged away."""

from __future__ import annotations

import numpy as np
from skimage.segmentation import watershed

from partdino.describe.regions.adjacency import find_borders
from partdino.describe.regions.clean_up import merge_ascending
from partdino.describe.regions.method import RegionMethod


def watershed_regions(
    boundary_map: np.ndarray, depth: float, basins: np.ndarray | None = None
) -> np.ndarray:
    """Flood a boundary map and keep the basins that are deeper than `depth`.

    A basin's depth (its dynamics: Grimaud 1992) is how far the water must rise from its lowest
    pixel before it spills into a deeper basin. Merging over the lowest passes first all basins
    no deeper than `depth` leaves one region for every minimum that the h-minima transform with
    h = `depth` would leave, without its slow reconstruction and exact for floats.

    Parameters
    ----------
    boundary_map
        float (H, W) in [0, 1], 1 = boundary.
    depth
        In units of the boundary map; 0 keeps every basin.
    basins
        int (H, W), where it is flooded already: see `partdino.describe.regions.flood`.

    Returns
    -------
    int (H, W), every pixel in a region, no watershed line.
    """
    if (
        boundary_map.min() == boundary_map.max()
    ):  # flat: scikit-image finds no minimum to flood from
        return np.zeros(boundary_map.shape, np.int32)
    if basins is None:
        basins = watershed(boundary_map, connectivity=1) - 1
    borders = find_borders(basins)
    passes = np.full(len(borders.edges), np.inf)
    # Of their own types, in which NumPy is several times as fast.
    np.minimum.at(passes, borders.edge, borders.heights(boundary_map).astype(np.float64))
    bottoms = np.full(basins.max() + 1, np.inf)
    pixels = boundary_map.ravel().astype(np.float64)
    np.minimum.at(bottoms, basins.ravel().astype(np.intp), pixels)
    groups = merge_ascending(
        borders.edges,
        passes,
        bottoms,
        should_merge=lambda height, first, second: height - max(first, second) <= depth,
        combine=min,
    )
    return groups[basins]


def _segment(
    image: np.ndarray, boundary_map: np.ndarray | None, scale: float, min_size: int
) -> np.ndarray:
    assert boundary_map is not None  # `needs_boundary_map`
    return watershed_regions(boundary_map, scale)


METHOD = RegionMethod(
    _segment, default_scale=0.02, needs_boundary_map=True, flooded=watershed_regions
)
