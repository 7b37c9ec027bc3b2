"""Regions from colour: the graph-based segmentation of Felzenszwalb and Huttenlocher (2004)."""

from __future__ import annotations

import numpy as np
from skimage.segmentation import felzenszwalb

from partdino.describe.regions.method import RegionMethod

SIGMA = 0.6  # smoothing before segmenting, pixels


def felzenszwalb_regions(image: np.ndarray, scale: float, min_size: int) -> np.ndarray:
    """Segment a uint8 (H, W, 3) image; a larger `scale` gives larger regions. Returns int (H, W).

    Regions are 8-connected and may hold fewer than `min_size` pixels once split into 4-connected
    pieces, so `clean_up` has to follow.
    """
    return felzenszwalb(image, scale=scale, sigma=SIGMA, min_size=min_size)


METHOD = RegionMethod(
    lambda image, boundary_map, scale, min_size: felzenszwalb_regions(image, scale, min_size),
    default_scale=60.0,
)
