"""Cutting regions into cells of about the size of a patch, so that none swallows several parts.

Where a part's border is no edge of the image (an even-coloured body), only the features know of it,
and a region that knows nothing finer than the image's edges would average it away.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from partdino.describe.regions.clean_up import clean_up
from partdino.method import DEFAULT_METHOD, Method


def split_into_cells(
    regions: np.ndarray,
    image: np.ndarray,
    boundary_map: np.ndarray | None,
    min_size: int,
    method: Method = DEFAULT_METHOD,
) -> np.ndarray:
    """Cut regions along a square lattice.

    Parameters
    ----------
    regions
        int (H, W), 0..R-1.
    image, boundary_map, min_size
        See `make_regions`: pieces below the least size join a neighbour.
    method
        For `lattice`.

    Returns
    -------
    int32 (H, W), 0..C-1, all 4-connected: the parts of regions in the squares of a lattice of about
    `lattice` squared, and small pieces joined to one of them.

    Examples
    --------
    >>> image = np.zeros((64, 64, 3), np.uint8)
    >>> cells = split_into_cells(np.zeros((64, 64), int), image, None, 1, Method(lattice=4))
    >>> int(cells.max()) + 1, bool((cells[:16, :16] == cells[0, 0]).all())
    (16, True)
    """
    height, width = regions.shape
    side = np.sqrt(height * width) / method.lattice
    rows, columns = (max(1, round(length / side)) for length in (height, width))
    row, column = np.arange(height) * rows // height, np.arange(width) * columns // width
    square = row[:, None] * columns + column
    return clean_up(regions * np.int64(rows * columns) + square, image, boundary_map, min_size)


def most_frequent(labels: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return int32 (G,), the most frequent label in each group of the pixels of int (H, W) maps.

    Both are numbered from 0, and no group is empty. Of several, the lowest label is returned.
    """
    ones = np.ones(labels.size, np.int64)
    counts = csr_matrix((ones, (groups.ravel(), labels.ravel())))
    counts.sort_indices()
    most = np.repeat(np.maximum.reduceat(counts.data, counts.indptr[:-1]), np.diff(counts.indptr))
    candidates = np.flatnonzero(counts.data == most)
    lowest = candidates[np.searchsorted(candidates, counts.indptr[:-1])]
    return counts.indices[lowest].astype(np.int32)
