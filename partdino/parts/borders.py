"""Smooth borders between parts: no combs and teeth where two parts meet on an even surface.

There the boundary map has plateaus, on which regions and cells end wherever a flood happened to
arrive. Nothing in the photo says that a border runs so.
"""

from __future__ import annotations

import cv2
import numpy as np

_ONE = 2**15  # the mask of a part in whole numbers, whose blur is the same on every machine


def smooth_borders(labels: np.ndarray, inside: np.ndarray, sigma: float) -> np.ndarray:
    """Blur the mask of every part inside the object; the largest one takes the pixel.

    Parameters
    ----------
    labels
        uint8 (h, w).
    inside
        bool (h, w), the object: what is outside neither changes nor counts.
    sigma
        Standard deviation of the Gaussian, pixels; 0 changes nothing.

    Returns
    -------
    uint8 (h, w). A label whose pixels would all go keeps them.

    Examples
    --------
    >>> labels = np.repeat([[1, 2]], 20, axis=0).repeat(20, axis=1).astype(np.uint8)
    >>> labels[10, 20:24] = 1  # a tooth of a comb
    >>> smooth_borders(labels, np.ones(labels.shape, bool), 1.5)[10, 18:26].tolist()
    [1, 1, 1, 2, 2, 2, 2, 2]
    """
    there = np.unique(labels[inside])
    if sigma == 0 or len(there) < 2:
        return labels
    smooth = labels.copy()
    most = np.zeros(labels.shape, np.uint16)
    for label in there:
        mask = ((labels == label) & inside).astype(np.uint16) * _ONE
        share = cv2.GaussianBlur(mask, (0, 0), sigma)
        np.copyto(smooth, label, where=inside & (share > most))
        np.maximum(most, share, out=most)
    lost = np.setdiff1d(there, smooth[inside])
    return np.where(inside & np.isin(labels, lost), labels, smooth)
