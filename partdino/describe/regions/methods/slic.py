"""Regions of even size from colour and position: SLIC superpixels (Achanta et al. 2012)."""

from __future__ import annotations

import numpy as np
from skimage.segmentation import slic

from partdino.describe.regions.method import RegionMethod

COMPACTNESS = 10.0  # weight of position against CIELAB colour


def slic_regions(image: np.ndarray, num_regions: int) -> np.ndarray:
    """Segment a uint8 (H, W, 3) image into about `num_regions` superpixels. Returns int (H, W)."""
    return slic(image, n_segments=num_regions, compactness=COMPACTNESS, start_label=0)


METHOD = RegionMethod(
    lambda image, boundary_map, scale, min_size: slic_regions(image, max(1, round(scale))),
    default_scale=500.0,
)
