"""What the axes of the features count: networks have some that are many times as long as others.

The axes of a vision transformer's tokens are not alike: a few are tens of times as long as the rest
(the massive activations of Sun et al. 2024), and would decide alone what is like what.
"""

from __future__ import annotations

import numpy as np

from partdino.method import DEFAULT_METHOD, Method


def axis_weights(variance: np.ndarray, method: Method = DEFAULT_METHOD) -> np.ndarray:
    """Return what each axis is to be multiplied by, so that none is much longer than most.

    Parameters
    ----------
    variance
        float (D,), of the features along each axis.
    method
        For `longest_axis`.

    Returns
    -------
    float64 (D,) in (0, 1]: 1 but for axes whose standard deviation is more than `longest_axis`
    times the median of all that have any; those are scaled down to it.

    Examples
    --------
    >>> axis_weights(np.array([1.0, 1.0, 1.0, 1.0, 0.0, 400.0]), Method(longest_axis=2.0))
    array([1. , 1. , 1. , 1. , 1. , 0.1])
    """
    spread = np.sqrt(variance.clip(0))
    some = spread > 0
    if not some.any():
        return np.ones(len(spread))
    longest = method.longest_axis * np.median(spread[some])
    return longest / np.maximum(spread, longest)
