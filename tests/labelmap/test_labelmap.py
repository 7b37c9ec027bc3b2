from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from partdino.parts import label_map as labelmap
from partdino.parts.label_map import resize_label_map

properties = settings(deadline=None, max_examples=40)
sides = st.integers(1, 20)
label_maps = arrays(np.uint8, st.tuples(sides, sides), elements=st.sampled_from([0, 1, 2, 9, 255]))


@properties
@given(label_map=label_maps)
def test_the_same_size_changes_nothing(label_map):
    np.testing.assert_array_equal(resize_label_map(label_map, label_map.shape), label_map)


@properties
@given(label_map=label_maps, height=st.integers(1, 40), width=st.integers(1, 40))
def test_no_new_labels(label_map, height, width):
    resized = resize_label_map(label_map, (height, width))
    assert resized.shape == (height, width)
    assert resized.dtype == np.uint8
    assert set(np.unique(resized)) <= set(np.unique(label_map))


@properties
@given(label_map=label_maps, size=st.tuples(sides, sides), grow=st.booleans())
def test_it_equals_the_largest_resized_mask(label_map, size, grow):
    height, width = label_map.shape
    size = (
        (height + size[0], width + size[1]) if grow else (min(size[0], height), min(size[1], width))
    )
    method = cv2.INTER_LINEAR if grow else cv2.INTER_AREA
    labels = np.unique(label_map)
    masks = [(label_map == label).astype(np.float32) for label in labels]
    scores = np.stack([cv2.resize(mask, size[::-1], interpolation=method) for mask in masks])
    scores = scores.reshape(len(labels), *size)
    resized = resize_label_map(label_map, size)
    won = np.take_along_axis(scores, np.searchsorted(labels, resized)[None], axis=0)[0]
    np.testing.assert_allclose(won, scores.max(axis=0), atol=1e-4)


@properties
@given(label_map=label_maps, size=st.tuples(st.integers(1, 40), st.integers(1, 40)))
def test_the_strips_equal_the_whole(label_map, size):
    whole = resize_label_map(label_map, size)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(labelmap, "STRIP_PIXELS", 1)
        np.testing.assert_array_equal(resize_label_map(label_map, size), whole)


@properties
@given(
    label_map=arrays(np.uint8, st.tuples(sides, sides), elements=st.integers(0, 1)),
    size=st.tuples(st.integers(1, 40), st.integers(1, 40)),
    names=st.permutations([3, 7]),
)
def test_renaming_the_labels_renames_the_result(label_map, size, names):
    # Two labels tie exactly where swapping them changes the winner; elsewhere names are mere names.
    plain, swapped = resize_label_map(label_map, size), 1 - resize_label_map(1 - label_map, size)
    tied = plain != swapped
    assert (plain[tied] == 0).all()
    table = np.array(names, np.uint8)
    renamed = resize_label_map(table[label_map], size)
    np.testing.assert_array_equal(renamed[~tied], table[plain][~tied])
    assert (renamed[tied] == 3).all()


@properties
@given(
    blocks=arrays(
        np.uint8, st.tuples(st.integers(1, 5), st.integers(1, 5)), elements=st.integers(0, 4)
    ),
    factor=st.integers(1, 4),
)
def test_up_and_down_again_keeps_big_blocks(blocks, factor):
    label_map = blocks.repeat(4, axis=0).repeat(4, axis=1)
    height, width = label_map.shape
    enlarged = resize_label_map(label_map, (height * factor, width * factor))
    back = resize_label_map(enlarged, (height, width))
    inside = np.ix_(*(np.flatnonzero(np.isin(np.arange(n) % 4, (1, 2))) for n in (height, width)))
    np.testing.assert_array_equal(back[inside], label_map[inside])


def test_half_pixel_convention():
    # A border in the middle of the map stays in the middle, whatever the factor.
    label_map = np.array([[1, 1, 2, 2]], np.uint8)
    for width in (2, 6, 8, 10, 100):
        expected = [1] * (width // 2) + [2] * (width // 2)
        assert resize_label_map(label_map, (3, width)).tolist() == [expected] * 3


def test_one_pixel_fills_the_whole():
    assert (resize_label_map(np.full((1, 1), 255, np.uint8), (7, 3)) == 255).all()


def test_the_smaller_label_wins_a_tie():
    label_map = np.array([[5, 2]], np.uint8)
    assert resize_label_map(label_map, (1, 1)).tolist() == [[2]]
    assert resize_label_map(label_map, (1, 3)).tolist() == [[5, 2, 2]]


def test_a_corner_is_rounded():
    label_map = np.zeros((4, 4), np.uint8)
    label_map[2:, 2:] = 1
    resized = resize_label_map(label_map, (64, 64))
    assert label_map.repeat(16, axis=0).repeat(16, axis=1)[32, 32] == 1
    assert resized[32, 32] == 0
    assert resized[-1, -1] == 1


def test_one_axis_may_grow_while_the_other_shrinks():
    label_map = np.array([[1, 1, 1, 2, 2, 2]] * 2, np.uint8)
    assert resize_label_map(label_map, (4, 2)).tolist() == [[1, 2]] * 4
