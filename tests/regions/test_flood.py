"""The flood on a device: the basins of scikit-image's watershed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter
from skimage.measure import label
from skimage.morphology import local_minima
from skimage.segmentation import watershed

from partdino.describe.regions import make_regions
from partdino.describe.regions.flood import flood


def basins_of(boundary_map: np.ndarray) -> np.ndarray:
    return watershed(boundary_map, connectivity=1) - 1


def smooth_maps(count: int = 3, size: tuple[int, int] = (70, 90)) -> np.ndarray:
    noise = np.random.default_rng(0).random((count, *size))
    maps = np.stack([gaussian_filter(each, 2) for each in noise])
    return ((maps - maps.min()) / np.ptp(maps)).astype(np.float32)


def test_basins_are_those_of_scikit_image():
    maps = smooth_maps()
    for basins, boundary_map in zip(flood(maps, "cpu"), maps, strict=True):
        np.testing.assert_array_equal(basins, basins_of(boundary_map))


def test_a_map_is_flooded_alike_in_any_batch():
    maps = smooth_maps()
    for basins, boundary_map in zip(flood(maps, "cpu"), maps, strict=True):
        np.testing.assert_array_equal(flood(boundary_map[None], "cpu")[0], basins)


@pytest.mark.parametrize("levels", [1, 2, 3, 10])
def test_plateaus_run_to_a_minimum_beside_them(levels):
    boundary_map = np.random.default_rng(1).integers(0, levels, (40, 50)).astype(np.float32)
    (basins,) = flood(boundary_map[None], "cpu")
    expected, lowest = basins_of(boundary_map), local_minima(boundary_map, connectivity=1)
    if levels > 1:  # scikit-image finds no minimum of a flat map
        np.testing.assert_array_equal(basins[lowest], expected[lowest])
    count = basins.max() + 1
    assert label(basins + 1, connectivity=1, background=0).max() == count
    assert count == (1 if levels == 1 else expected.max() + 1)


def test_regions_are_the_same_from_a_flood_on_a_device():
    boundary_map = smooth_maps(1)[0]
    image = np.zeros((*boundary_map.shape, 3), np.uint8)
    (basins,) = flood(boundary_map[None], "cpu")
    there = make_regions(image, boundary_map, basins=basins)
    np.testing.assert_array_equal(there, make_regions(image, boundary_map))
