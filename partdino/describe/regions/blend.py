"""From one value a cell to a smooth map, without crossing the border of a region."""

from __future__ import annotations

from functools import cached_property

import numpy as np

_TAPS = 2  # on either side


class RegionBlend:
    """Averages a map around every pixel, over the pixels of the same region only.

    The cells' borders are no edges of the image where both sides are one region: there the values
    of two cells pass into each other. Borders of regions stay sharp.

    Parameters
    ----------
    regions
        int (H, W), the region of every pixel.
    width
        The width of a cell, pixels: how wide the values pass into each other.
    """

    def __init__(self, regions: np.ndarray, width: float) -> None:
        self._regions = regions
        self._step = max(1, round(width / (2 * _TAPS + 1)))

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Blend float32 (H, W) values, along the rows and then along the columns."""
        for axis, same in enumerate(self._same):
            total, count = values.copy(), np.ones_like(values)
            for distance, mask in same.items():
                near, far = _halves(axis, distance)
                total[near] += values[far] * mask
                total[far] += values[near] * mask
                count[near] += mask
                count[far] += mask
            values = total / count
        return values

    @cached_property
    def _same(self) -> list[dict[int, np.ndarray]]:
        """For each axis and distance, bool: whether two pixels that far apart are one region."""
        distances = [self._step * tap for tap in range(1, _TAPS + 1)]
        return [
            {
                d: self._regions[near] == self._regions[far]
                for d in distances
                if d < self._regions.shape[axis]
                for near, far in [_halves(axis, d)]
            }
            for axis in (0, 1)
        ]


def _halves(axis: int, distance: int) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Return the indices of all pixels with another one `distance` further, and of those."""
    whole = (slice(None),) * axis
    return (*whole, slice(None, -distance)), (*whole, slice(distance, None))
