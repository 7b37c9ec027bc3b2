"""Cells, and maps that pass from cell to cell inside a region."""

from __future__ import annotations

import numpy as np
import pytest
from skimage.measure import label

from partdino.describe.regions import RegionBlend, most_frequent, split_into_cells
from partdino.method import DEFAULT_METHOD


def halves(height=128, width=160):
    """Two regions with an oblique border."""
    rows, columns = np.mgrid[:height, :width]
    return (columns > 60 + rows // 4).astype(np.int32)


@pytest.mark.parametrize("size", [(128, 160), (96, 96), (40, 320)])
def test_cells_divide_regions_into_connected_pieces_of_patch_size(size):
    regions = halves(*size)
    image = np.zeros((*size, 3), np.uint8)
    boundary_map = np.zeros(size, np.float32)
    cells = split_into_cells(regions, image, boundary_map, min_size=4)
    count = cells.max() + 1
    square = size[0] * size[1] / DEFAULT_METHOD.lattice**2
    areas = np.bincount(cells.ravel())
    assert 0.9 * DEFAULT_METHOD.lattice**2 <= count <= 1.3 * DEFAULT_METHOD.lattice**2
    assert areas.min() >= 4 and areas.max() < 2.5 * square
    assert label(cells + 1, connectivity=1, background=0).max() == count


def test_no_cell_lies_in_two_regions_where_pieces_are_large_enough():
    regions = halves()
    image = np.zeros((*regions.shape, 3), np.uint8)
    cells = split_into_cells(regions, image, np.zeros(regions.shape, np.float32), min_size=1)
    of_cells = most_frequent(regions, cells)
    np.testing.assert_array_equal(of_cells[cells], regions)


def test_the_most_frequent_label_of_each_group():
    labels = np.array([[0, 2, 2], [1, 1, 0]])
    groups = np.array([[0, 0, 0], [1, 1, 1]])
    assert most_frequent(labels, groups).tolist() == [2, 1]


def test_a_blend_is_smooth_inside_a_region_and_sharp_at_its_border():
    regions = np.repeat([0, 1], 40)[None].repeat(60, axis=0)
    values = np.zeros((60, 80), np.float32)
    values[:, 20:40] = 1
    values[:, 40:] = -5
    blended = RegionBlend(regions, width=10)(values)
    row = blended[30]
    assert (np.abs(np.diff(row[:40])) < 0.5).all() and row[19] > 0.2 and row[21] < 0.9
    np.testing.assert_allclose(row[[5, 36]], [0, 1], atol=1e-6)
    np.testing.assert_allclose(blended[:, 40:], -5)


def test_a_blend_works_on_maps_smaller_than_a_cell():
    values = np.arange(4, dtype=np.float32).reshape(2, 2)
    blended = RegionBlend(np.zeros((2, 2), int), width=40)(values)
    np.testing.assert_allclose(blended, values)
