"""A boundary detector that needs no weights: the colour gradient at several scales.

The gradient of a Lab image is the largest stretch of its colour (Di Zenzo, "A note on the gradient
of a multi-image", 1986), taken at three scales. Their geometric mean is sharp like the finest scale
and, like the coarsest, silent on noise. A busy surround lowers it, so that texture counts for less
than a contour (Grigorescu, Petkov & Westenberg, "Contour detection based on nonclassical receptive
field inhibition", 2003; here by division, which never silences a contour).
"""

from __future__ import annotations

import cv2
import numpy as np

_SCALES = (1.0, 2.0, 4.0)  # pixels
_SURROUND = 24.0  # pixels
_HALF_CONTRAST = 10.0  # the step in Lab units that, alone, is a boundary of strength one half
_ROUNDING = 1e-3  # Lab units: what is below is no colour difference


def detect(image: np.ndarray) -> np.ndarray:
    """Measure how strongly the colour changes at every pixel.

    Parameters
    ----------
    image
        uint8 (H, W, 3), RGB.

    Returns
    -------
    ndarray
        float32 (H, W) in [0, 1). The scale is fixed, not stretched to the image: a constant image
        is 0 everywhere and faint noise stays faint.
    """
    lab = cv2.cvtColor(image.astype(np.float32) / 255, cv2.COLOR_RGB2LAB)
    contrast = np.prod([_step_height(lab, scale) for scale in _SCALES], axis=0)
    contrast **= 1 / len(_SCALES)
    contrast[contrast < _ROUNDING] = 0
    surround = cv2.GaussianBlur(contrast, (0, 0), _SURROUND, borderType=cv2.BORDER_REPLICATE)
    return contrast / (contrast + surround + _HALF_CONTRAST)


def _step_height(lab: np.ndarray, scale: float) -> np.ndarray:
    """Return the Lab distance across the straight step edge that would give this gradient."""
    radius = int(np.ceil(3 * scale))
    offset = np.arange(-radius, radius + 1)
    smooth = np.exp(-(offset**2) / (2 * scale**2))
    smooth = smooth / smooth.sum()
    # The derivative of a Gaussian, scaled so that a unit step answers 1 where it is.
    derive = offset * smooth
    derive = derive / derive[offset > 0].sum()
    dx = _filter(lab, derive, smooth)
    dy = _filter(lab, smooth, derive)
    xx, yy, xy = (dx * dx).sum(-1), (dy * dy).sum(-1), (dx * dy).sum(-1)
    largest = (xx + yy + np.hypot(xx - yy, 2 * xy)) / 2
    return np.sqrt(largest)


def _filter(lab: np.ndarray, along_x: np.ndarray, along_y: np.ndarray) -> np.ndarray:
    return cv2.sepFilter2D(lab, cv2.CV_32F, along_x, along_y, borderType=cv2.BORDER_REPLICATE)
