"""One axis of a resize as an exact sparse matrix, in the half-pixel convention.

Entries are integers, so that sums and ties are exact whatever the order of summation; divide by
the sum of a row to get weights.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix


def bilinear_axis(size: int, source: int) -> csr_matrix:
    """Sample `source` values at the centres of `size` pixels, linearly, clamped at the ends.

    The convention of `cv2.resize(..., INTER_LINEAR)` and torch's `align_corners=False`.

    Returns
    -------
    int64 (size, source), every row sums to 2 * size.
    """
    centre = (
        2 * np.arange(size) + 1
    ) * source - size  # source index of each centre, times 2 * size
    left, right_weight = np.divmod(centre, 2 * size)
    neighbours = np.stack([left, left + 1], axis=1).clip(0, source - 1)
    weights = np.stack([2 * size - right_weight, right_weight], axis=1)
    return _matrix(weights, neighbours, source)


def area_axis(size: int, source: int) -> csr_matrix:
    """Overlap of each of `size` equal cells with each of `source` equal pixels on the same length.

    The convention of `cv2.resize(..., INTER_AREA)`.

    Returns
    -------
    int64 (size, source), every row sums to `source`, every column to `size`.
    """
    start = np.arange(size) * source  # in units of 1/size pixel; a pixel is `size` units long
    reach = -(-source // size) + 1  # pixels that a cell can touch
    pixels = (start // size)[:, None] + np.arange(reach)
    overlap = np.minimum(start[:, None] + source, (pixels + 1) * size) - np.maximum(
        start[:, None], pixels * size
    )
    return _matrix(overlap.clip(0), pixels.clip(0, source - 1), source)


def _matrix(weights: np.ndarray, columns: np.ndarray, source: int) -> csr_matrix:
    """Put weights (size, n) at columns (size, n) of a sparse matrix, adding up repeats."""
    rows = np.repeat(np.arange(len(weights)), weights.shape[1])
    shape = (len(weights), source)
    matrix = csr_matrix((weights.ravel(), (rows, columns.ravel())), shape=shape)
    matrix.eliminate_zeros()
    return matrix
