"""Moving an outline to the edges of a photo."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from partdino.parts.label_map import resize_label_map
from partdino.parts.outline import refine_outline, spread_labels

SIDE, TIMES = 64, 4  # of the label map; pixels of the photo for one of it


def disc(side: int, radius: float) -> np.ndarray:
    y, x = np.indices((side, side)) + 0.5 - side / 2
    return np.hypot(x, y) < radius


def photo_of(mask: np.ndarray, noise: float = 4.0) -> np.ndarray:
    """A red object on green, uint8 (H, W, 3)."""
    colours = np.where(mask[..., None], (190, 60, 50), (60, 150, 70)).astype(float)
    colours += np.random.default_rng(0).normal(0, noise, colours.shape)
    return colours.clip(0, 255).astype(np.uint8)


def overlap(one: np.ndarray, other: np.ndarray) -> float:
    return (one & other).sum() / (one | other).sum()


TRUE = disc(SIDE * TIMES, 20 * TIMES)


@pytest.mark.parametrize("radius", [18, 22], ids=["too small", "too large"])
def test_an_outline_moves_to_the_edge_of_the_photo(radius):
    labels = disc(SIDE, radius).astype(np.uint8)
    before = overlap(resize_label_map(labels, TRUE.shape) > 0, TRUE)
    after = overlap(refine_outline(labels, photo_of(TRUE)) > 0, TRUE)
    assert before < 0.9 and after > 0.985


def test_steps_are_smoothed_away():
    steps = cv2.resize(disc(SIDE // 8, 2.5).astype(np.uint8), (SIDE, SIDE), interpolation=0)
    refined = refine_outline(steps, photo_of(TRUE))
    assert overlap(refined > 0, TRUE) > 0.97


def test_where_the_photo_has_no_edge_the_outline_stays():
    labels = disc(SIDE, 20).astype(np.uint8)
    grey = np.full((*TRUE.shape, 3), 128, np.uint8)
    assert overlap(refine_outline(labels, grey) > 0, TRUE) > 0.97


def test_pixels_far_from_the_outline_stay_whatever_the_photo_shows():
    labels = disc(SIDE, 20).astype(np.uint8)
    elsewhere = photo_of(np.roll(TRUE, 60, axis=1))
    refined = refine_outline(labels, elsewhere) > 0
    assert refined[disc(SIDE * TIMES, 12 * TIMES)].all()
    assert not refined[~disc(SIDE * TIMES, 28 * TIMES)].any()


def test_borders_between_parts_stay_and_new_pixels_go_to_the_nearest_part():
    labels = disc(SIDE, 17).astype(np.uint8)
    labels[:, SIDE // 2 :] *= 2
    refined = refine_outline(labels, photo_of(TRUE))
    middle = SIDE * TIMES // 2
    assert set(np.unique(refined[:, :middle])) == {0, 1}
    assert set(np.unique(refined[:, middle:])) == {0, 2}
    assert overlap(refined > 0, TRUE) > 0.95


def test_thin_and_small_things_do_not_vanish():
    labels = np.zeros((SIDE, SIDE), np.uint8)
    labels[10:30, 10:30] = 1
    labels[30:60, 18:21] = 2  # a leg
    labels[50:55, 50:55] = 3  # a piece of its own
    photo = photo_of(resize_label_map(labels, TRUE.shape) > 0)
    refined = refine_outline(labels, photo)
    for part, least in ((1, 0.9), (2, 0.8), (3, 0.6)):
        expected = resize_label_map(labels, TRUE.shape) == part
        assert overlap(refined == part, expected) > least


def test_a_part_that_the_photo_takes_for_background_is_not_lost():
    labels = disc(SIDE, 20).astype(np.uint8)
    rim = labels.astype(bool) & ~disc(SIDE, 18)
    labels[rim] = 2
    refined = refine_outline(labels, photo_of(disc(SIDE * TIMES, 16 * TIMES)))
    assert set(np.unique(refined)) == {0, 1, 2}


@pytest.mark.parametrize("value", [0, 3])
@pytest.mark.parametrize("size", [(256, 256), (40, 30), (1, 1)])
def test_all_of_one_kind(value, size):
    labels = np.full((SIDE, SIDE), value, np.uint8)
    refined = refine_outline(labels, np.zeros((*size, 3), np.uint8))
    assert refined.shape == size and (refined == value).all()


@pytest.mark.parametrize("size", [(512, 512), (32, 32), (32, 100), (5, 3)])
def test_any_size_of_the_photo_will_do(size):
    labels = disc(SIDE, 20).astype(np.uint8)
    photo = photo_of(resize_label_map(labels, size) > 0)
    refined = refine_outline(labels, photo)
    assert refined.shape == size and refined.dtype == np.uint8
    if min(size) > 30:
        assert overlap(refined > 0, resize_label_map(labels, size) > 0) > 0.9


def test_labels_spread_to_the_nearest():
    labels = np.array([[1, 0, 0, 0, 2]], np.uint8)
    assert spread_labels(labels)[0, [0, 1, 3, 4]].tolist() == [1, 1, 2, 2]
