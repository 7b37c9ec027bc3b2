"""The boundary detector that needs no weights."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partdino.describe.boundaries import detect_boundaries


def detect(image: np.ndarray) -> np.ndarray:
    return detect_boundaries(image, "gradient")


def step(width: int, column: int, left: tuple[int, ...], right: tuple[int, ...]) -> np.ndarray:
    image = np.empty((40, width, 3), np.uint8)
    image[:, :column] = left
    image[:, column:] = right
    return image


@settings(deadline=None, max_examples=20)
@given(column=st.integers(8, 52), dark=st.integers(0, 100), contrast=st.integers(40, 150))
def test_a_step_answers_most_on_both_sides_of_itself(column, dark, contrast):
    found = detect(step(60, column, (dark,) * 3, (dark + contrast,) * 3))
    for row in (0, 20, 39):
        strongest = np.argsort(found[row])[-2:]
        assert set(strongest) == {column - 1, column}
    assert found[20, column] == pytest.approx(found[20, column - 1], rel=1e-3)
    assert found[20, column] > 5 * max(found[20, column - 7], found[20, column + 6])


def test_more_contrast_is_a_stronger_boundary():
    strengths = [
        detect(step(40, 20, (100,) * 3, (100 + contrast,) * 3))[20, 20]
        for contrast in (0, 5, 20, 60, 150)
    ]
    assert strengths[0] == 0
    assert np.all(np.diff(strengths) > 0.05)
    assert strengths[-1] > 0.7


def test_a_change_of_hue_alone_is_a_boundary():
    # Equally light, so that a grey image would show nothing.
    assert detect(step(40, 20, (200, 90, 90), (95, 135, 95)))[20, 20] > 0.5


@settings(deadline=None, max_examples=10)
@given(
    colour=st.tuples(*[st.integers(0, 255)] * 3),
    height=st.integers(1, 40),
    width=st.integers(1, 40),
)
def test_a_constant_image_has_no_boundary_at_any_size(colour, height, width):
    found = detect(np.full((height, width, 3), colour, np.uint8))
    assert found.dtype == np.float32
    assert np.array_equal(found, np.zeros((height, width)))


@settings(deadline=None, max_examples=10)
@given(seed=st.integers(0, 1000), height=st.integers(1, 30), width=st.integers(1, 30))
def test_any_image_stays_in_range(seed, height, width):
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    found = detect(pixels)
    assert found.shape == (height, width)
    assert found.min() >= 0 and found.max() < 1


def test_same_bits_whatever_the_number_of_threads():
    pixels = np.random.default_rng(0).integers(0, 256, (300, 211, 3), dtype=np.uint8)
    threads = cv2.getNumThreads()
    try:
        maps = []
        for count in (1, 2, 3):
            cv2.setNumThreads(count)
            maps.append(detect(pixels))
    finally:
        cv2.setNumThreads(threads)
    assert np.array_equal(maps[0], maps[1]) and np.array_equal(maps[0], maps[2])


def test_turning_the_image_turns_the_map():
    pixels = np.random.default_rng(0).integers(0, 256, (30, 50, 3), dtype=np.uint8)
    for turns in (1, 2, 3):
        turned = detect(np.ascontiguousarray(np.rot90(pixels, turns)))
        np.testing.assert_allclose(turned, np.rot90(detect(pixels), turns), atol=1e-4)


def test_a_contour_outdoes_noise_and_texture():
    rng = np.random.default_rng(0)
    image = np.full((120, 240, 3), 60, np.int64)
    image[:, 60:] = 180
    image[:, 140:] += rng.integers(-60, 61, (120, 100, 1))  # as large a change at every pixel
    image += rng.integers(-5, 6, image.shape)
    found = detect(np.clip(image, 0, 255).astype(np.uint8))
    contour, noise, texture = found[:, 59:61], found[:, 80:120], found[:, 170:]
    assert contour.min() > 0.6
    assert noise.max() < 0.2
    assert texture.max() < contour.min()
