"""Cutting an image into many small regions that respect its boundaries."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from partdino import plugins
from partdino.describe.regions.adjacency import region_adjacency
from partdino.describe.regions.blend import RegionBlend
from partdino.describe.regions.cells import most_frequent, split_into_cells
from partdino.describe.regions.clean_up import clean_up
from partdino.describe.regions.method import RegionMethod
from partdino.describe.regions.methods import NAMES, built_in
from partdino.errors import ConfigError

__all__ = [
    "NAMES",
    "RegionBlend",
    "RegionMethod",
    "find_method",
    "make_regions",
    "most_frequent",
    "region_adjacency",
    "split_into_cells",
]

# Of other people: from uint8 (H, W, 3) and a boundary map or None to int (H, W).
RegionFunction = Callable[[np.ndarray, "np.ndarray | None"], np.ndarray]


def find_method(name: str) -> RegionMethod:
    """Return a region method: a built-in one, or one of an installed package or a function.

    Raises
    ------
    ConfigError
        There is no such method, or what stands behind the name is none.
    """
    if name in NAMES:
        return built_in(name)
    if not plugins.is_plugin("regions", name):
        known = ", ".join((*NAMES, *plugins.names("regions")))
        raise ConfigError(f"unknown region method '{name}'; take one of: {known}")
    return as_method(plugins.find("regions", name), name)


def as_method(given: RegionMethod | RegionFunction, name: str) -> RegionMethod:
    """Make a region method of a function; raises `ConfigError` where it is none."""
    if isinstance(given, RegionMethod):
        return given
    if not callable(given):
        raise ConfigError(f"region method '{name}' is no function, but {type(given).__name__}")

    def segment(
        image: np.ndarray, boundary_map: np.ndarray | None, scale: float, min_size: int
    ) -> np.ndarray:
        labels = np.asarray(given(image, boundary_map))
        if labels.shape != image.shape[:2] or labels.dtype.kind not in "iub":
            raise ConfigError(
                f"region method '{name}' returned {labels.dtype} {labels.shape} for an image of "
                f"{image.shape[:2]}; return whole numbers, one a pixel"
            )
        return labels.astype(np.int64)

    return RegionMethod(segment)


def make_regions(
    image: np.ndarray,
    boundary_map: np.ndarray | None = None,
    method: str | RegionMethod | RegionFunction = "watershed",
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
        "watershed", "felzenszwalb" or "slic", the name of what an installed package offers, or a
        function from the image and the boundary map to int (H, W), any labels.
    scale
        How coarse: for `watershed` the depth below which a basin is merged away, in units of the
        boundary map; for `felzenszwalb` the scale of the paper; for `slic` the number of regions
        aimed at. The default is the method's own.
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

    Examples
    --------
    >>> import numpy as np
    >>> image = np.zeros((32, 32, 3), np.uint8)
    >>> halves = make_regions(image, method=lambda image, _: np.indices((32, 32))[1] // 16)
    >>> int(halves.max()) + 1, bool((halves[:, :16] == halves[0, 0]).all())
    (2, True)
    """
    if isinstance(method, str):
        method = find_method(method)
    elif not isinstance(method, RegionMethod):
        method = as_method(method, getattr(method, "__name__", "function"))
    if scale is None:
        scale = method.default_scale
    if scale < 0:
        raise ConfigError(f"the region scale is {scale}: it must not be negative")
    if boundary_map is not None and boundary_map.shape != image.shape[:2]:
        raise ValueError(f"boundary map {boundary_map.shape} for an image {image.shape[:2]}")
    if boundary_map is None and method.needs_boundary_map:
        raise ConfigError("watershed regions need a boundary map: choose a boundary detector")
    if basins is not None and boundary_map is not None and method.flooded is not None:
        regions = method.flooded(boundary_map, scale, basins)
    else:
        regions = method.segment(image, boundary_map, scale, min_size)
    return clean_up(regions, image, boundary_map, min_size)
