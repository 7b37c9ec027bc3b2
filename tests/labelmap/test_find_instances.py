"""Telling the objects of a label map apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import ndimage

from partdino.parts.instances import LEAST_SHARE, count_pieces, find_instances
from partdino.parts.result import PartSegmentation, part_geometry

sides = st.integers(1, 16)
label_maps = arrays(np.uint8, st.tuples(sides, sides), elements=st.sampled_from([0, 0, 1, 2, 9]))
shares = st.sampled_from([0, 0.25, 0.5, 1])


def _rectangles(*boxes: tuple[int, int, int, int], size: tuple[int, int] = (40, 80)) -> np.ndarray:
    """Return a label map of boxes (top, left, height, width), one part after the other."""
    labels = np.zeros(size, np.uint8)
    for part, (top, left, height, width) in enumerate(boxes, start=1):
        labels[top : top + height, left : left + width] = part
    return labels


def test_objects_count_from_left_to_right_whatever_their_size():
    labels = _rectangles((20, 60, 15, 15), (0, 30, 10, 10), (10, 2, 12, 12))
    expected = np.select([labels == 3, labels == 2, labels == 1], [1, 2, 3], 0)
    np.testing.assert_array_equal(find_instances(labels), expected)


def test_parts_that_touch_at_a_corner_are_one_object():
    labels = _rectangles((0, 0, 4, 4), (4, 4, 4, 4), (20, 30, 4, 8))
    expected = np.select([labels == 3, labels > 0], [2, 1], 0)
    np.testing.assert_array_equal(find_instances(labels), expected)


@pytest.mark.parametrize(("area", "objects"), [(25, 2), (24, 1)])
def test_a_piece_is_an_object_from_its_share_on(area, objects):
    labels = _rectangles((0, 0, 10, 10), (0, 40, 1, area))
    assert LEAST_SHARE == 0.25
    assert find_instances(labels).max() == objects


def test_small_pieces_belong_to_the_nearest_outline_not_the_nearest_middle():
    labels = _rectangles((0, 0, 20, 40), (0, 60, 20, 20), (5, 46, 2, 2))
    found = find_instances(labels)
    # The second object's middle is nearer, but the first one's outline is.
    assert (found[labels == 3] == 1).all()
    assert set(np.unique(found)) == {0, 1, 2}


def test_a_piece_within_the_hole_of_an_object_is_its():
    labels = _rectangles((0, 0, 30, 30), (20, 60, 15, 15))
    labels[5:25, 5:25] = 0
    labels[14:16, 14:16] = 3
    assert (find_instances(labels)[labels == 3] == 1).all()


def test_many_objects_have_more_bits():
    labels = np.zeros((40, 60), np.uint8)
    labels[::2, ::2] = 1
    found = find_instances(labels)
    assert (found.dtype, found.max()) == (np.uint16, 600)
    # Of one column, from above.
    assert found[:4, 0].tolist() == [1, 0, 2, 0]


@settings(deadline=None, max_examples=60)
@given(label_map=label_maps, share=shares)
def test_all_of_the_foreground_has_an_object_and_large_pieces_are_one_each(label_map, share):
    found = find_instances(label_map, share)
    np.testing.assert_array_equal(found > 0, label_map > 0)
    pieces, count = ndimage.label(label_map > 0, np.ones((3, 3)))
    areas = np.bincount(pieces.ravel())[1:]
    large = areas >= share * areas.max(initial=0)
    assert found.max(initial=0) == large.sum()
    for piece in range(1, count + 1):
        assert len(np.unique(found[pieces == piece])) == 1
    own = {int(found[pieces == piece][0]) for piece in 1 + np.flatnonzero(large)}
    assert own == set(range(1, int(large.sum()) + 1))
    middles = [np.argwhere(pieces == piece).mean(axis=0)[1] for piece in 1 + np.flatnonzero(large)]
    numbers = [int(found[pieces == piece][0]) for piece in 1 + np.flatnonzero(large)]
    in_order = np.array(middles)[np.argsort(numbers)]
    assert (np.diff(in_order) >= -1e-9).all()


@settings(deadline=None, max_examples=60)
@given(label_map=label_maps, share=shares)
def test_small_pieces_go_to_one_that_is_nearest(label_map, share):
    found = find_instances(label_map, share)
    pieces, count = ndimage.label(label_map > 0, np.ones((3, 3)))
    areas = np.bincount(pieces.ravel())[1:]
    large = 1 + np.flatnonzero(areas >= share * areas.max(initial=0))
    for piece in set(range(1, count + 1)) - set(large.tolist()):
        here = np.argwhere(pieces == piece)
        distances = {
            int(found[pieces == other][0]): np.linalg.norm(
                here[:, None] - np.argwhere(pieces == other), axis=2
            ).min()
            for other in large
        }
        chosen = int(found[pieces == piece][0])
        assert distances[chosen] == pytest.approx(min(distances.values()))


@settings(deadline=None, max_examples=60)
@given(label_map=label_maps)
def test_every_part_of_every_object_is_measured_where_it_is(label_map):
    ones = np.zeros(9, np.float32)
    result = PartSegmentation("a", label_map, 9, ones, ones, True).with_instances(0.25)
    measured = [(each.instance, each.part) for each in result.parts]
    pairs = np.stack([result.instances, label_map]).reshape(2, -1).T
    assert measured == sorted({(i, p) for i, p in pairs.tolist() if p})
    for each in result.parts:
        mask = (result.instances == each.instance) & (label_map == each.part)
        [alone] = part_geometry(mask.astype(np.uint8), 1)
        assert (each.area, each.box) == (alone.area, alone.box)
        assert each.centroid == pytest.approx(alone.centroid)
        x, y, width, height = each.box
        np.testing.assert_array_equal(each.mask(result), mask[y : y + height, x : x + width])


def test_pieces_are_counted_without_specks():
    inside = np.zeros((20, 20), bool)
    inside[:10, :10] = inside[12:18, 12:18] = inside[19, 0] = True
    assert count_pieces(inside, 0.02) == 2
    assert count_pieces(inside, 0.0) == 3
    assert count_pieces(inside, 0.5) == 1
    assert count_pieces(np.zeros((3, 3), bool), 0.0) == 0
