"""Patches of drawn objects, where it is known which of them straddle what."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partdino.evaluation.study.ridges import Crossings, find_label_borders, find_ridges
from partdino.evaluation.study.straddling import (
    INNER,
    INTERIOR,
    SILHOUETTE,
    foreground_patches,
    patch_shares,
    strongest_crossing,
    true_groups,
)

SIZE, GRID = (64, 64), (8, 8)


def rectangle(top=8, bottom=56, left=10, right=54) -> np.ndarray:
    """An object whose upper and lower ends lie between patches, the others inside patches."""
    mask = np.zeros(SIZE, bool)
    mask[top:bottom, left:right] = True
    return mask


def ridge(row: int, strength: float = 0.9) -> np.ndarray:
    """A boundary map with its crest between the pixels of `row - 1` and `row`."""
    distance = np.abs(np.arange(SIZE[0]) + 0.5 - row)
    profile = strength * np.exp(-(distance - 0.5) / 3)
    return np.repeat(profile[:, None], SIZE[1], axis=1).astype(np.float32)


def group_map(boundary_map: np.ndarray, foreground: np.ndarray, threshold=0.5) -> np.ndarray:
    patches = foreground_patches(foreground, find_ridges(boundary_map), GRID)
    groups = np.full(GRID, -1)
    groups[patches.row, patches.column] = patches.groups(threshold)
    return groups


def expected(inner_rows=()) -> np.ndarray:
    groups = np.full(GRID, -1)
    groups[1:7, 1:7] = INTERIOR
    groups[list(inner_rows), 2:6] = INNER
    groups[1:7, [1, 6]] = SILHOUETTE  # whatever else passes through
    return groups


def test_cells_of_a_two_part_object():
    np.testing.assert_array_equal(group_map(ridge(28), rectangle()), expected(inner_rows=[3]))


def test_a_boundary_between_two_cells_passes_through_neither():
    np.testing.assert_array_equal(group_map(ridge(32), rectangle()), expected())


def test_a_weak_boundary_does_not_count():
    np.testing.assert_array_equal(group_map(ridge(28, 0.4), rectangle()), expected())
    weak = group_map(ridge(28, 0.4), rectangle(), threshold=0.3)
    np.testing.assert_array_equal(weak, expected(inner_rows=[3]))


def test_a_boundary_in_the_background_part_of_a_cell_does_not_count():
    foreground = rectangle(top=18)  # 6 of the 8 pixel rows of patch row 2
    groups = group_map(ridge(17), foreground)
    assert set(groups[2, 1:7]) == {SILHOUETTE} and set(groups[3, 2:6]) == {INTERIOR}
    patches = foreground_patches(foreground, find_ridges(ridge(17)), GRID)
    assert not patches.strength.any()


def test_a_cell_is_foreground_by_more_than_half_of_its_area():
    foreground = np.zeros(SIZE, bool)
    foreground[:, :4] = True
    foreground[0, 4] = True
    patches = foreground_patches(foreground, find_ridges(ridge(28)), GRID)
    assert list(zip(patches.row, patches.column, strict=True)) == [(0, 0)]


def test_a_dent_in_a_thick_boundary_is_no_second_boundary():
    boundary_map = ridge(28)
    boundary_map[26:30] = 0.9
    boundary_map[28] = 0.85
    crossings = find_ridges(boundary_map)
    assert len(crossings.strength) == SIZE[1]
    boundary_map[28] = 0.5  # deep enough to be something between two boundaries
    assert len(find_ridges(boundary_map).strength) == 2 * SIZE[1]


def test_true_groups():
    truth = np.where(rectangle(), 1, 0)
    truth[28:] *= 2
    patches = foreground_patches(rectangle(), find_ridges(ridge(32)), GRID)
    groups = np.full(GRID, -1)
    groups[patches.row, patches.column] = true_groups(truth, patches, GRID)
    np.testing.assert_array_equal(groups, expected(inner_rows=[3]))


def test_a_flat_image_has_no_boundary():
    assert set(group_map(np.zeros(SIZE, np.float32), np.ones(SIZE, bool)).ravel()) == {INTERIOR}


@settings(deadline=None, max_examples=30)
@given(
    size=st.tuples(st.integers(4, 20), st.integers(4, 20)),
    grid=st.tuples(st.integers(1, 6), st.integers(1, 6)),
    seed=st.integers(0, 1000),
)
def test_any_grid_over_any_image(size, grid, seed):
    rng = np.random.default_rng(seed)
    labels, within = rng.integers(0, 3, size), rng.random(size) < 0.8
    pixels = find_label_borders(labels).pixels
    crossings = Crossings(pixels, rng.random(pixels.shape[1]).astype(np.float32))
    wanted = np.zeros(grid, np.float32)
    for first, second, strength in zip(*pixels, crossings.strength, strict=True):
        places = [np.unravel_index(flat, size) for flat in (first, second)]
        patches = {
            tuple(int((place[axis] + 0.5) / size[axis] * grid[axis]) for axis in (0, 1))
            for place in places
        }
        if len(patches) == 1 and all(within[place] for place in places):
            patch = patches.pop()
            wanted[patch] = max(wanted[patch], strength)
    np.testing.assert_array_equal(strongest_crossing(crossings, within, grid), wanted)


@pytest.mark.parametrize("size", [(64, 64), (30, 50), (7, 9)])
def test_shares_are_of_the_area(size):
    mask = np.random.default_rng(0).random(size) < 0.5
    assert patch_shares(mask, (8, 8)).mean() == pytest.approx(mask.mean())
    assert patch_shares(np.ones(size, bool), (8, 8)) == pytest.approx(np.ones((8, 8)))
