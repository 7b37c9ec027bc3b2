"""What a region method is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

# From uint8 (H, W, 3), a boundary map float (H, W) in [0, 1] or None, the scale and the least size
# in pixels to int (H, W), any labels.
Segment = Callable[[np.ndarray, "np.ndarray | None", float, int], np.ndarray]


@dataclass(frozen=True)
class RegionMethod:
    """A way to cut an image into regions.

    Attributes
    ----------
    segment
        Labels the pixels of an image: given the image, its boundary map or None, the scale and the
        least size. Regions may be in pieces or too small: that is cleaned up after it.
    default_scale
        How coarse it is unless asked otherwise; in units of its own.
    needs_boundary_map
        Whether it can do nothing without one.
    flooded
        For methods that begin with the basins of the boundary map: the same as `segment`, given the
        boundary map, the scale, and the basins int (H, W) that a device has flooded.
    """

    segment: Segment
    default_scale: float = 0.0
    needs_boundary_map: bool = False
    flooded: Callable[[np.ndarray, float, np.ndarray], np.ndarray] | None = None
