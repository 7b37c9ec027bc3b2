"""How unlike the border of its image each patch is: a guess at what is object, within one image."""

from __future__ import annotations

import numpy as np

_BORDER = 0.1  # width of the border band, as a share of each side
_NEIGHBOURS = 0.03  # share of the border's patches that a patch is compared with


def border_contrast(features: np.ndarray) -> np.ndarray:
    """Measure how unlike the image's border every patch is.

    Parameters
    ----------
    features
        float (gh, gw, D), unit vectors.

    Returns
    -------
    float32 (gh, gw): one minus the mean cosine with the most similar 3% of the patches in the band
    of 10% around the image, standardised over the image; 0 everywhere if all are alike.
    """
    rows, columns, dim = features.shape
    flat = features.reshape(-1, dim)
    similarity = flat @ flat[_border_mask(rows, columns).ravel()].T
    count = max(1, round(_NEIGHBOURS * similarity.shape[1]))
    nearest = np.partition(similarity, -count, axis=1)[:, -count:]
    contrast = 1 - nearest.mean(axis=1, dtype=np.float64)
    spread = contrast.std()
    standardised = (contrast - contrast.mean()) / spread if spread > 1e-6 else 0 * contrast
    return standardised.astype(np.float32).reshape(rows, columns)


def _border_mask(rows: int, columns: int) -> np.ndarray:
    bands = [max(1, round(_BORDER * length)) for length in (rows, columns)]
    mask = np.ones((rows, columns), bool)
    mask[bands[0] : rows - bands[0], bands[1] : columns - bands[1]] = False
    return mask
