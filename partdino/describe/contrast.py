"""How unlike the border of its image each patch is: a guess at what is object, within one image."""

from __future__ import annotations

import numpy as np

from partdino.method import DEFAULT_METHOD, Method


def border_contrast(features: np.ndarray, method: Method = DEFAULT_METHOD) -> np.ndarray:
    """Measure how unlike the image's border every patch is.

    Parameters
    ----------
    features
        float (gh, gw, D), unit vectors.
    method
        For `border` and `border_neighbours`.

    Returns
    -------
    float32 (gh, gw): one minus the mean cosine with the most similar patches in the band around the
    image, standardised over the image; 0 everywhere if all are alike.

    Examples
    --------
    >>> features = np.zeros((10, 10, 2))
    >>> features[..., 0] = 1
    >>> features[4:6, 4:6] = [0, 1]  # an object in the middle
    >>> contrast = border_contrast(features)
    >>> contrast.shape, bool(contrast[4, 4] > 1), bool(contrast[0, 0] < 0)
    ((10, 10), True, True)
    """
    rows, columns, dim = features.shape
    flat = features.reshape(-1, dim)
    similarity = flat @ flat[_border_mask(rows, columns, method.border).ravel()].T
    count = max(1, round(method.border_neighbours * similarity.shape[1]))
    nearest = np.partition(similarity, -count, axis=1)[:, -count:]
    contrast = 1 - nearest.mean(axis=1, dtype=np.float64)
    spread = contrast.std()
    standardised = (contrast - contrast.mean()) / spread if spread > 1e-6 else 0 * contrast
    return standardised.astype(np.float32).reshape(rows, columns)


def border_share(cells: np.ndarray, method: Method = DEFAULT_METHOD) -> np.ndarray:
    """Return float16 (C,), the share of each cell of int (H, W) that lies in the border's band."""
    rows, columns = cells.shape
    mask = _border_mask(rows, columns, method.border).ravel()
    areas = np.bincount(cells.ravel())
    return (np.bincount(cells.ravel(), mask, len(areas)) / areas).astype(np.float16)


def _border_mask(rows: int, columns: int, width: float) -> np.ndarray:
    bands = [max(1, round(width * length)) for length in (rows, columns)]
    mask = np.ones((rows, columns), bool)
    mask[bands[0] : rows - bands[0], bands[1] : columns - bands[1]] = False
    return mask
