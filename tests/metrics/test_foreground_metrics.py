"""Scores of masks that are known."""

from __future__ import annotations

import numpy as np
import pytest

from partdino.metrics import (
    boundary_tolerance,
    hull_counts,
    mask_counts,
    mask_iou,
    mask_precision_recall,
    worst_tenth,
)


def box(top, left, bottom, right, size=(20, 30)):
    mask = np.zeros(size, bool)
    mask[top:bottom, left:right] = True
    return mask


def test_boxes_that_overlap():
    counts = mask_counts(box(0, 0, 10, 10), box(5, 0, 10, 20))
    assert counts.tolist() == [50, 100, 100]
    assert mask_iou(counts) == pytest.approx(1 / 3)
    assert mask_precision_recall(counts) == (0.5, 0.5)


def test_missing_and_superfluous_pixels_are_told_apart():
    counts = mask_counts(box(0, 0, 10, 10), box(0, 0, 10, 5))
    assert mask_precision_recall(counts) == (1.0, 0.5)
    counts = mask_counts(box(0, 0, 10, 5), box(0, 0, 10, 10))
    assert mask_precision_recall(counts) == (0.5, 1.0)


def test_empty_masks():
    nothing, something = box(0, 0, 0, 0), box(0, 0, 2, 2)
    assert mask_iou(mask_counts(nothing, nothing)) == 1
    assert mask_iou(mask_counts(something, nothing)) == 0
    assert mask_precision_recall(mask_counts(something, nothing)) == (1, 0)
    assert mask_precision_recall(mask_counts(nothing, something)) == (0, 1)


def test_gaps_of_the_labels_are_within_their_hull():
    labelled = box(5, 5, 15, 8) | box(5, 20, 15, 25)
    assert hull_counts(labelled, box(5, 5, 15, 25)).tolist() == [0, 200]
    assert hull_counts(labelled, box(0, 0, 20, 30)).tolist() == [600 - 200, 600]


def test_without_labels_everything_is_outside():
    assert hull_counts(box(0, 0, 0, 0), box(0, 0, 1, 7)).tolist() == [7, 7]


@pytest.mark.parametrize(("number", "mean"), [(1, 0), (10, 0), (20, 0.5), (14, 0)])
def test_the_worst_tenth_is_one_value_at_least(number, mean):
    assert worst_tenth(list(range(number))[::-1]) == mean


def test_the_tolerance_is_a_share_of_the_diagonal():
    assert boundary_tolerance(300, 400) == 4
    assert boundary_tolerance(300, 400, 0.01) == 5
