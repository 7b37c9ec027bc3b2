"""Mean IoU after one-to-one matching."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from partdino.metrics import match_parts, mean_iou_from_contingency, part_iou


def test_iou_counts_background_in_the_union():
    table = np.array([[50, 4, 0], [6, 10, 0]])
    np.testing.assert_allclose(part_iou(table), [[10 / 20, 0.0]])
    assert mean_iou_from_contingency(table) == 0.5


def test_matching_is_the_best_of_all():
    table = np.random.default_rng(0).integers(0, 100, (5, 6))
    iou = part_iou(table)
    best = max(sum(iou[range(4), order]) for order in permutations(range(5), 4)) / 4
    assert mean_iou_from_contingency(table) == pytest.approx(best)


def test_each_part_is_matched_once_though_another_would_be_nearer():
    table = np.array([[0, 0], [0, 8], [0, 7]])
    assert match_parts(table) == {1: 1}
    assert mean_iou_from_contingency(table) == pytest.approx(8 / 15 / 2)


def test_a_part_absent_everywhere_is_not_in_the_mean():
    table = np.array([[5, 0, 0], [0, 0, 0], [0, 9, 0]])
    assert match_parts(table) == {2: 1}
    assert mean_iou_from_contingency(table) == 1.0


@pytest.mark.parametrize("table", [[[0]], [[7, 3]], [[7, 3], [0, 0]], [[7], [3]]])
def test_nothing_to_match_is_zero(table):
    assert match_parts(np.array(table)) == {}
    assert mean_iou_from_contingency(np.array(table)) == 0.0
