"""Averaging dense features inside image regions, without ever upsampling the features."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from partdino.images.resampling import bilinear_axis


def pooling_weights(regions: np.ndarray, grid: tuple[int, int]) -> sparse.csr_matrix:
    """Return the weight of every grid square in the mean of every region.

    The weights give the exact mean, over a region's pixels, of the features upsampled bilinearly to
    the size of the image (half-pixel convention, clamped at the edges).

    Parameters
    ----------
    regions
        int (H, W), regions numbered 0..R-1, none empty.
    grid
        (gh, gw), the size of the feature grid that covers the same image.

    Returns
    -------
    csr_matrix float64 (R, gh * gw), not negative, every row sums to 1, squares in row-major order.
    """
    (height, width), (rows, columns) = regions.shape, grid
    upsample = sparse.kron(bilinear_axis(height, rows), bilinear_axis(width, columns))
    weights = (_pixels_of(regions) @ upsample.tocsr()).astype(np.float64)
    return (sparse.diags(1 / np.asarray(weights.sum(axis=1)).ravel()) @ weights).tocsr()


def _pixels_of(regions: np.ndarray) -> sparse.csr_matrix:
    """Return the int64 (R, H * W) indicator of which pixels each region holds."""
    size = regions.size
    entries = (np.ones(size, np.int64), regions.ravel(), np.arange(size + 1))
    return sparse.csr_matrix(entries, shape=(size, int(regions.max()) + 1)).T.tocsr()


def pool(features: np.ndarray, regions: np.ndarray) -> np.ndarray:
    """Average dense features inside every region.

    Parameters
    ----------
    features
        float (gh, gw, D), a grid over the same image as `regions`.
    regions
        int (H, W), regions numbered 0..R-1, none empty.

    Returns
    -------
    float32 (R, D).

    Examples
    --------
    >>> features = np.array([[[0.0], [1.0]]])
    >>> halves = np.repeat([[0, 0, 1, 1]], 2, axis=0)
    >>> pool(features, halves).ravel().tolist()
    [0.125, 0.875]
    """
    rows, columns, dim = features.shape
    weights = pooling_weights(regions, (rows, columns))
    return (weights @ features.reshape(rows * columns, dim)).astype(np.float32)
