from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import ndimage
from skimage.morphology import local_minima, reconstruction

from partdino.describe.regions import NAMES, make_regions, region_adjacency
from partdino.describe.regions.clean_up import clean_up
from partdino.describe.regions.methods.watershed import watershed_regions
from partdino.errors import ConfigError

METHODS = NAMES
CROSS = ndimage.generate_binary_structure(2, 1)
sizes = st.tuples(st.integers(1, 24), st.integers(1, 24))
properties = settings(deadline=None, max_examples=40)


def blobs(height: int, width: int, seed: int, smoothness: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a random smooth uint8 image and a random smooth boundary map that spans [0, 1]."""
    rng = np.random.default_rng(seed)
    fields = ndimage.gaussian_filter(rng.random((height, width, 4)), (smoothness, smoothness, 0))
    fields -= fields.min()
    fields /= max(fields.max(), 1e-9)
    return (fields[..., :3] * 255).astype(np.uint8), fields[..., 3].astype(np.float32)


def assert_proper(regions: np.ndarray, shape: tuple[int, int], min_size: int) -> None:
    assert regions.shape == shape
    assert regions.dtype == np.int32
    labels, first = np.unique(regions, return_index=True)
    np.testing.assert_array_equal(labels, np.arange(len(labels)))
    assert (np.diff(first) > 0).all()
    assert all(ndimage.label(regions == label, CROSS)[1] == 1 for label in labels)
    assert np.bincount(regions.ravel()).min() >= min(min_size, regions.size)


@properties
@given(
    size=sizes,
    seed=st.integers(0, 99),
    smoothness=st.sampled_from([0.0, 1.5]),
    method=st.sampled_from(METHODS),
    min_size=st.integers(1, 50),
    guided=st.booleans(),
)
def test_regions_partition_the_image_into_connected_pieces(
    size, seed, smoothness, method, min_size, guided
):
    image, boundary_map = blobs(*size, seed, smoothness)
    boundary_map = boundary_map if guided or method == "watershed" else None
    regions = make_regions(image, boundary_map, method, min_size=min_size)
    assert_proper(regions, size, min_size)
    again = make_regions(image, boundary_map, method, min_size=min_size)
    np.testing.assert_array_equal(regions, again)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [(1, 1), (1, 9), (32, 32), (40, 30)])
def test_a_constant_image_works(method, size):
    image = np.full((*size, 3), 120, np.uint8)
    regions = make_regions(image, np.zeros(size, np.float32), method)
    assert_proper(regions, size, 30)
    if method != "slic":
        assert regions.max() == 0


@pytest.mark.parametrize("method", METHODS)
def test_an_image_smaller_than_min_size_is_one_region(method):
    image, boundary_map = blobs(5, 7, 0, 0)
    assert make_regions(image, boundary_map, method, min_size=100).max() == 0


@pytest.mark.parametrize("method", METHODS)
def test_scale_sets_how_many_regions(method):
    image, boundary_map = blobs(64, 64, 1, 1.5)
    coarse, fine = {"slic": (4, 40), "watershed": (0.5, 0.02), "felzenszwalb": (500, 20)}[method]
    few, many = (
        make_regions(image, boundary_map, method, scale, min_size=4).max()
        for scale in (coarse, fine)
    )
    assert few < many


@properties
@given(
    seed=st.integers(0, 99),
    column=st.integers(6, 25),
    row=st.integers(6, 25),
    min_size=st.integers(1, 30),
)
def test_watershed_regions_do_not_cross_a_strong_boundary(seed, column, row, min_size):
    image, boundary_map = blobs(32, 32, seed, 1.0)
    boundary_map *= 0.5
    boundary_map[:, column] = 1.0
    boundary_map[row] = 1.0
    regions = make_regions(image, boundary_map, "watershed", 0.1, min_size)
    corners = (regions[:row, :column], regions[:row, column + 1 :])
    corners += (regions[row + 1 :, :column], regions[row + 1 :, column + 1 :])
    sets = [set(np.unique(corner)) for corner in corners]
    assert sum(map(len, sets)) == len(set().union(*sets))


@properties
@given(
    levels=arrays(
        np.int64, st.tuples(st.integers(2, 12), st.integers(2, 12)), elements=st.integers(0, 9)
    ),
    depth=st.integers(0, 9),
)
def test_watershed_keeps_the_minima_of_the_h_minima_transform(levels, depth):
    filled = reconstruction(levels + depth, levels, method="erosion", footprint=CROSS)
    minima = ndimage.label(local_minima(filled, connectivity=1), CROSS)[1]
    regions = watershed_regions(levels.astype(np.float32), depth)
    assert len(np.unique(regions)) == max(minima, 1)


def test_small_regions_join_across_the_weakest_boundary():
    regions = np.repeat([[0, 1, 2]], 5, axis=0).repeat([8, 2, 8], axis=1)
    boundary_map = np.zeros(regions.shape, np.float32)
    boundary_map[:, 7] = 0.9
    boundary_map[:, 10] = 0.4
    image = np.zeros((*regions.shape, 3), np.uint8)
    image[:, 10:] = 255  # the colour speaks for the left, the boundary for the right
    guided = clean_up(regions, image, boundary_map, 20)
    np.testing.assert_array_equal(guided, np.repeat([[0, 1]], 5, axis=0).repeat([8, 10], axis=1))
    by_colour = clean_up(regions, image, None, 20)
    np.testing.assert_array_equal(by_colour, np.repeat([[0, 1]], 5, axis=0).repeat([10, 8], axis=1))


def test_equal_boundaries_are_settled_by_the_longer_border():
    regions = np.zeros((12, 12), np.int32)
    regions[:, 6:] = 1
    regions[5:7, 3:7] = 2  # 8 pixel pairs beside region 0, 4 beside region 1
    expected = np.zeros((12, 12), np.int32)
    expected[:, 6:] = 1
    expected[5:7, 6] = 0
    image = np.zeros((12, 12, 3), np.uint8)
    np.testing.assert_array_equal(clean_up(regions, image, None, 10), expected)


def test_a_region_in_two_pieces_is_split():
    regions = np.array([[7, 3, 7]] * 4).repeat(4, axis=1)
    image = np.zeros((*regions.shape, 3), np.uint8)
    expected = np.array([[0, 1, 2]] * 4).repeat(4, axis=1)
    np.testing.assert_array_equal(clean_up(regions, image, None, 1), expected)


@properties
@given(
    regions=arrays(
        np.int32, st.tuples(st.integers(1, 9), st.integers(1, 9)), elements=st.integers(0, 4)
    ),
    seed=st.integers(0, 99),
)
def test_adjacency_equals_a_count_pixel_by_pixel(regions, seed):
    boundary_map = np.random.default_rng(seed).random(regions.shape, np.float32)
    crossings: dict[tuple[int, int], list[float]] = {}
    height, width = regions.shape
    for i, j in np.ndindex(height, width):
        for k, m in ((i + 1, j), (i, j + 1)):
            if k < height and m < width and regions[i, j] != regions[k, m]:
                pair = tuple(sorted((int(regions[i, j]), int(regions[k, m]))))
                crossings.setdefault(pair, []).append(max(boundary_map[i, j], boundary_map[k, m]))
    edges, length, strength = region_adjacency(regions, boundary_map)
    assert (edges.dtype, length.dtype, strength.dtype) == (np.int32, np.int32, np.float32)
    assert [tuple(edge) for edge in edges.tolist()] == sorted(crossings)
    assert length.tolist() == [len(crossings[pair]) for pair in sorted(crossings)]
    means = [np.mean(crossings[pair]) for pair in sorted(crossings)]
    np.testing.assert_allclose(strength, means, rtol=1e-5)
    assert not region_adjacency(regions)[2].any()


def test_errors_name_the_cure():
    image, boundary_map = blobs(8, 8, 0, 0)
    with pytest.raises(ConfigError, match="felzenszwalb"):
        make_regions(image, boundary_map, "quickshift")
    with pytest.raises(ConfigError, match="boundary detector"):
        make_regions(image, None, "watershed")
    with pytest.raises(ConfigError, match="negative"):
        make_regions(image, boundary_map, "watershed", -1)
    with pytest.raises(ValueError, match="boundary map"):
        make_regions(image, boundary_map[:4], "watershed")
