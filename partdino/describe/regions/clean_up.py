"""Merging of neighbouring regions, and the clean-up that every region method ends with."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from skimage.measure import label

from partdino.describe.regions.adjacency import region_adjacency


def merge_ascending(
    edges: np.ndarray,
    costs: np.ndarray,
    values: np.ndarray,
    should_merge: Callable[[float, float, float], bool],
    combine: Callable[[float, float], float],
) -> np.ndarray:
    """Visit the edges of a region graph once, cheapest first, and merge where a rule says so.

    Parameters
    ----------
    edges
        int (E, 2), pairs of touching regions.
    costs
        float (E,), the order of the visit; ties are visited in the order given.
    values
        (R,), one number per region that the rule looks at.
    should_merge
        Called with the edge's cost and the values of the two groups it joins at that moment.
    combine
        The value of a merged group from the values of its two halves.

    Returns
    -------
    int64 (R,), for every region the number of the region that stands for its group.
    """
    parent = list(range(len(values)))
    value = values.tolist()

    def find(region: int) -> int:
        while parent[region] != region:
            parent[region] = region = parent[parent[region]]
        return region

    order = np.argsort(costs, kind="stable")
    # Not as a list of pairs: a great many small lists keep the garbage collector busy.
    ends = edges[order].T.tolist()
    for first, second, cost in zip(*ends, costs[order].tolist(), strict=True):
        first, second = find(first), find(second)
        if first != second and should_merge(cost, value[first], value[second]):
            parent[second] = first
            value[first] = combine(value[first], value[second])
    return np.array([find(region) for region in range(len(parent))])


def clean_up(
    regions: np.ndarray, image: np.ndarray, boundary_map: np.ndarray | None, min_size: int
) -> np.ndarray:
    """Make any labelling of the pixels into proper regions.

    Regions in several pieces are split; pieces smaller than `min_size` join a neighbour, across
    the weakest boundary first or, without a boundary map, the most similar mean colour first, as
    the last step of Felzenszwalb and Huttenlocher (2004) does.

    Parameters
    ----------
    regions
        int (H, W), any values.
    image
        uint8 (H, W, 3).
    boundary_map
        float (H, W) in [0, 1], 1 = boundary.
    min_size
        Pixels.

    Returns
    -------
    int32 (H, W): 4-connected regions of at least `min_size` pixels (one region where the whole
    image is smaller), numbered 0..R-1 in raster order of their first pixel.
    """
    pieces = label(regions, background=regions.min() - 1, connectivity=1) - 1
    edges, length, strength = region_adjacency(pieces, boundary_map)
    costs = _colour_distance(pieces, image, edges) if boundary_map is None else strength
    longest_first = np.argsort(-length, kind="stable")  # settles ties in cost
    groups = merge_ascending(
        edges[longest_first],
        costs[longest_first],
        np.bincount(pieces.ravel()),
        should_merge=lambda _, first, second: min(first, second) < min_size,
        combine=lambda first, second: first + second,
    )
    return number_in_raster_order(groups[pieces])


def _colour_distance(regions: np.ndarray, image: np.ndarray, edges: np.ndarray) -> np.ndarray:
    flat = regions.ravel()
    sums = [np.bincount(flat, channel) for channel in image.reshape(-1, 3).T]
    means = np.stack(sums, axis=1) / np.bincount(flat)[:, None]
    return np.linalg.norm(means[edges[:, 0]] - means[edges[:, 1]], axis=1)


def number_in_raster_order(regions: np.ndarray) -> np.ndarray:
    """Renumber an int (H, W) map from 0 on, int32, in raster order of each number's first pixel."""
    flat = regions.ravel()
    first = np.full(flat.max() + 1, flat.size)
    first[flat[::-1]] = np.arange(flat.size)[::-1]  # of several values, the last one stays
    rank = np.empty(len(first), np.int32)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[regions]
