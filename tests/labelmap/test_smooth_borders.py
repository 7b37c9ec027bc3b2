"""Smoothing the borders between parts."""

from __future__ import annotations

import numpy as np
import pytest

from partdino.parts.borders import smooth_borders

SIDE = 48


def halves() -> np.ndarray:
    """Part 1 to the left of part 2, uint8 (SIDE, SIDE)."""
    labels = np.ones((SIDE, SIDE), np.uint8)
    labels[:, SIDE // 2 :] = 2
    return labels


def everywhere() -> np.ndarray:
    return np.ones((SIDE, SIDE), bool)


def test_a_comb_becomes_a_straight_border():
    comb = halves()
    comb[4:-4:2, SIDE // 2 : SIDE // 2 + 6] = 1  # teeth of one row, six pixels long
    smooth = smooth_borders(comb, everywhere(), 1.5)
    width = (smooth[8:-8] == 1).sum(axis=1)
    assert width.max() - width.min() <= 1
    assert width.min() >= SIDE // 2 and width.max() <= SIDE // 2 + 6


def test_a_straight_border_and_a_disc_stay():
    assert np.array_equal(smooth_borders(halves(), everywhere(), 1.5), halves())
    y, x = np.indices((SIDE, SIDE)) - SIDE / 2
    disc = np.where(np.hypot(x, y) < 15, 2, 1).astype(np.uint8)
    changed = (smooth_borders(disc, everywhere(), 1.5) != disc).sum()
    assert changed <= 8  # of a border some 94 pixels long


def test_what_is_outside_neither_changes_nor_counts():
    labels = halves()
    labels[20] = 2  # a row through part 1, most of it outside
    inside = np.zeros_like(labels, bool)
    inside[20, :] = True
    labels[:20] = labels[21:] = 1
    assert np.array_equal(smooth_borders(labels, inside, 3.0), labels)


@pytest.mark.parametrize("size", [1, 2])
def test_a_part_of_a_few_pixels_is_not_lost(size):
    labels = halves()
    labels[10 : 10 + size, 10] = 3
    smooth = smooth_borders(labels, everywhere(), 1.5)
    assert np.array_equal(smooth == 3, labels == 3)


def test_what_is_no_part_is_a_label_like_any():
    labels = halves() - 1  # 0: no part, inside the object
    labels[4:-4:2, SIDE // 2 : SIDE // 2 + 6] = 0
    assert np.array_equal(
        smooth_borders(labels, everywhere(), 1.5),
        smooth_borders(labels + 1, everywhere(), 1.5) - 1,
    )


def test_no_blur_changes_nothing():
    noise = np.random.default_rng(0).integers(1, 5, (SIDE, SIDE)).astype(np.uint8)
    assert smooth_borders(noise, everywhere(), 0.0) is noise
