"""Averaging dense features inside image regions, without ever upsampling the features."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from partdino.resampling import area_axis, bilinear_axis


def pooling_weights(
    regions: np.ndarray, grid: tuple[int, int], purity: float = 0.0
) -> sparse.csr_matrix:
    """Return the weight of every grid cell in the mean of every region.

    With `purity` 0 the weights give the exact mean, over a region's pixels, of the features
    upsampled bilinearly to the size of the image (half-pixel convention, clamped at the edges).
    With `purity` above 0 the weight of each cell is multiplied by the share of the cell's area that
    lies in the region, to the power of `purity`: a patch that straddles the region's border mixes
    two things and counts less. What matters is how pure a cell is beside the region's other cells,
    so a region without any pure cell still has a mean.

    Parameters
    ----------
    regions
        int (H, W), regions numbered 0..R-1, none empty.
    grid
        (gh, gw), the size of the feature grid that covers the same image.
    purity
        0 or more.

    Returns
    -------
    csr_matrix float64 (R, gh * gw), not negative, every row sums to 1, cells in row-major order.
    """
    (height, width), (rows, columns) = regions.shape, grid
    pixels = _pixels_of(regions)
    upsample = sparse.kron(bilinear_axis(height, rows), bilinear_axis(width, columns))
    weights = (pixels @ upsample.tocsr()).astype(np.float64)
    if purity > 0:
        overlap = sparse.kron(area_axis(rows, height).T, area_axis(columns, width).T)
        area = (pixels @ overlap.tocsr()).astype(np.float64)
        share = _divide_rows(area, area.max(axis=1).toarray())
        weights = weights.multiply(share.power(purity))
    return _divide_rows(weights, weights.sum(axis=1))


def _divide_rows(matrix: sparse.csr_matrix, divisors: np.ndarray) -> sparse.csr_matrix:
    return (sparse.diags(1 / np.asarray(divisors).ravel()) @ matrix).tocsr()


def _pixels_of(regions: np.ndarray) -> sparse.csr_matrix:
    """Return the int64 (R, H * W) indicator of which pixels each region holds."""
    size = regions.size
    entries = (np.ones(size, np.int64), regions.ravel(), np.arange(size + 1))
    return sparse.csr_matrix(entries, shape=(size, int(regions.max()) + 1)).T.tocsr()


def pool(features: np.ndarray, regions: np.ndarray, purity: float = 0.0) -> np.ndarray:
    """Average dense features inside every region.

    Parameters
    ----------
    features
        float (gh, gw, D), a grid over the same image as `regions`.
    regions
        int (H, W), regions numbered 0..R-1, none empty.
    purity
        How much less a patch counts that straddles a region's border; see `pooling_weights`.

    Returns
    -------
    float32 (R, D).
    """
    rows, columns, dim = features.shape
    weights = pooling_weights(regions, (rows, columns), purity)
    return (weights @ features.reshape(rows * columns, dim)).astype(np.float32)
