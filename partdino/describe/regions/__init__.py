"""Cutting an image into many small regions that respect its boundaries."""

from __future__ import annotations

import numpy as np

from partdino.describe.regions.adjacency import region_adjacency
from partdino.describe.regions.blend import RegionBlend
from partdino.describe.regions.cells import most_frequent, split_into_cells
from partdino.describe.regions.clean_up import clean_up
from partdino.describe.regions.felzenszwalb import felzenszwalb_regions
from partdino.describe.regions.slic import slic_regions
from partdino.describe.regions.watershed import watershed_regions
from partdino.errors import ConfigError

__all__ = [
    "DEFAULT_SCALES",
    "RegionBlend",
    "make_regions",
    "most_frequent",
    "region_adjacency",
    "split_into_cells",
]

DEFAULT_SCALES = {"watershed": 0.02, "felzenszwalb": 60.0, "slic": 500.0}


def make_regions(
    image: np.ndarray,
    boundary_map: np.ndarray | None = None,
    method: str = "watershed",
    scale: float | None = None,
    min_size: int = 30,
    basins: np.ndarray | None = None,
) -> np.ndarray:
    """Partition an image into regions.

    Parameters
    ----------
    image
        uint8 (H, W, 3), RGB.
    boundary_map
        float (H, W) in [0, 1], 1 = boundary. What `watershed` floods; where given, any method's
        small regions are merged across its weakest boundaries.
    method
        "watershed", "felzenszwalb" or "slic".
    scale
        How coarse: for `watershed` the depth below which a basin is merged away, in units of the
        boundary map; for `felzenszwalb` the scale of the paper; for `slic` the number of regions
        aimed at. The default is the method's own (`DEFAULT_SCALES`).
    min_size
        The least number of pixels in a region.
    basins
        int (H, W), what `watershed` would flood, flooded already: see
        `partdino.describe.regions.flood`.

    Returns
    -------
    int32 (H, W), 0..R-1: every pixel in a region, every region 4-connected and of at least
    `min_size` pixels (one region where the whole image is smaller), numbered in raster order of
    their first pixel.

    Raises
    ------
    ConfigError
        An unknown method, a negative scale, or `watershed` without a boundary map.
    ValueError
        The boundary map is not of the size of the image.
    """
    if method not in DEFAULT_SCALES:
        raise ConfigError(
            f"unknown region method {method!r}: use one of {', '.join(DEFAULT_SCALES)}"
        )
    if scale is None:
        scale = DEFAULT_SCALES[method]
    if scale < 0:
        raise ConfigError(f"the region scale is {scale}: it must not be negative")
    if boundary_map is not None and boundary_map.shape != image.shape[:2]:
        raise ValueError(f"boundary map {boundary_map.shape} for an image {image.shape[:2]}")
    if method == "watershed":
        if boundary_map is None:
            raise ConfigError("watershed regions need a boundary map: choose a boundary detector")
        regions = watershed_regions(boundary_map, scale, basins)
    elif method == "felzenszwalb":
        regions = felzenszwalb_regions(image, scale, min_size)
    else:
        regions = slic_regions(image, max(1, round(scale)))
    return clean_up(regions, image, boundary_map, min_size)
