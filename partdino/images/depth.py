"""Which values of a deep image (16-bit, float) are shown as black and as white."""

from __future__ import annotations

import math

import numpy as np

_SENSOR_BITS = (8, 10, 12, 14, 16)
_SAMPLE = 1_000_000  # pixels
_OUTLIERS = 0.1  # percent at either end: hot pixels must not decide


def display_range(values: np.ndarray) -> tuple[float, float]:
    """Return the values that become 0 and 255, from the image's own values.

    Let ``low`` and ``high`` be the 0.1 and 99.9 percentile of the finite values. (Of large
    images every n-th row and column is looked at.)

    - Integers from 0 to 65535: black is 0 and white is the largest value of the smallest usual
      sensor depth (8, 10, 12, 14 or 16 bits) that holds ``high``: a 12-bit image in a 16-bit file
      is as bright as it was meant, and images of one camera keep their relative brightness.
    - Floats in [0, 1] with ``high`` of at least 1/16: black is 0 and white is 1.
    - Anything else (negative values, physical units): black is ``low`` and white is ``high``.

    Parameters
    ----------
    values
        Real (H, W, C) array of any type; NaN and infinities are ignored.

    Returns
    -------
    tuple of float
        (black, white), with black < white.
    """
    step = math.ceil(math.sqrt(values.shape[0] * values.shape[1] / _SAMPLE))
    sample = values[::step, ::step].astype(np.float64)
    sample = sample[np.isfinite(sample)]
    if sample.size == 0:
        return 0.0, 1.0
    low, high = np.percentile(sample, [_OUTLIERS, 100 - _OUTLIERS])
    if values.dtype.kind in "ui" and low >= 0 and high <= 65535:
        return 0.0, float(min(2**bits - 1 for bits in _SENSOR_BITS if high <= 2**bits - 1))
    if values.dtype.kind == "f" and low >= 0 and 1 / 16 <= high <= 1:
        return 0.0, 1.0
    # A constant image is black, whatever its value: the span only has to be a number above 0.
    span = max(high - low, 1e-12 * max(abs(low), abs(high)), 1e-30)
    return float(low), float(low + span)


def to_uint8(values: np.ndarray, black: float, white: float) -> np.ndarray:
    """Map black to 0 and white to 255, linearly and clipped; NaN becomes 0.

    Parameters
    ----------
    values
        Real array of any shape and type.
    black, white
        Two different values; black above white inverts the image.

    Returns
    -------
    ndarray
        uint8, the shape of ``values``.
    """
    scaled = (values.astype(np.float64) - black) * (255 / (white - black))
    return np.rint(np.clip(np.nan_to_num(scaled, nan=0.0), 0, 255)).astype(np.uint8)
