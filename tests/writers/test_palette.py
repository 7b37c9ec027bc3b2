from __future__ import annotations

import numpy as np

from partdino.runs.writers.palette import part_colours


def test_background_is_black_and_all_colours_differ() -> None:
    colours = part_colours()
    assert colours.shape == (256, 3)
    assert colours.dtype == np.uint8
    assert not colours[0].any()
    assert len(np.unique(colours, axis=0)) == 256


def test_first_colours_stand_apart_and_are_bright() -> None:
    first = part_colours()[1:21].astype(int)
    distance = np.abs(first[:, None] - first).sum(axis=-1) + 999 * np.eye(20)
    assert distance.min() > 60
    assert first.max(axis=1).min() > 90


def test_first_colours_stand_apart_without_telling_red_from_green() -> None:
    # What is left, roughly: one mixture of red and green, and blue.
    first = part_colours()[1:9].astype(float)
    seen = np.stack([0.33 * first[:, 0] + 0.67 * first[:, 1], first[:, 2]], axis=1)
    distance = np.linalg.norm(seen[:, None] - seen, axis=-1) + 999 * np.eye(8)
    assert distance.min() > 25
