"""Scores of foregrounds that are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from partdino.evaluation.datasets import MaskSample
from partdino.evaluation.scoring.foreground_scorer import CoverScorer, ForegroundScorer

SIZE = (60, 80)


def square(top, left, side=20):
    mask = np.zeros(SIZE, np.uint8)
    mask[top : top + side, left : left + side] = 1
    return mask


def sample_of(truth, name="a.jpg"):
    return MaskSample(name, Path(name), SIZE, lambda: truth)


def score(*pairs):
    scorer = ForegroundScorer()
    for truth, labels in pairs:
        one = ForegroundScorer()
        one.update(sample_of(truth), labels)
        scorer.merge(one)
    return scorer.compute()


def test_the_truth_scores_100_whatever_its_parts():
    names = {"object_iou", "object_iou_worst", "object_precision", "object_recall", "outline_f"}
    assert score((square(10, 10), 7 * square(10, 10))) == dict.fromkeys(names, 100)


def test_half_of_the_object():
    half = square(10, 10)
    half[20:] = 0
    scores = score((square(10, 10), half))
    assert scores["object_iou"] == scores["object_recall"] == 50
    assert scores["object_precision"] == 100
    assert 50 < scores["outline_f"] < 100


def test_an_outline_nearby_agrees_up_to_a_hundredth_of_the_diagonal():
    assert score((square(10, 10), square(10, 11)))["outline_f"] == 100
    assert score((square(10, 10), square(15, 15)))["outline_f"] < 60


def test_every_photo_counts_alike_and_the_worst_tenth_is_apart():
    nothing = np.zeros(SIZE, np.uint8)
    pairs = [(square(0, 0, side), square(0, 0, side)) for side in range(5, 24)]
    scores = score(*pairs, (square(0, 0, 40), nothing))
    assert scores["object_iou"] == pytest.approx(95)
    assert scores["object_iou_worst"] == pytest.approx(50)


def test_label_maps_of_another_size_are_compared_at_that_of_the_mask():
    assert score((square(20, 20), square(20, 20)[::2, ::2]))["object_iou"] == 100


def test_nothing_scored_has_no_score():
    assert ForegroundScorer().compute() == CoverScorer().compute() == {}


def test_labels_with_gaps():
    labelled = (square(10, 10, 10) + square(10, 40, 10)) > 0
    scorer, other = CoverScorer(), CoverScorer()
    foreground = np.zeros(SIZE, bool)
    foreground[10:20, 10:45] = True  # one label, half of the other, and what is between them
    scorer.update(labelled, foreground)
    other.update(labelled, np.ones(SIZE, bool))
    other.update(np.zeros(SIZE, bool), np.ones(SIZE, bool))  # says nothing
    scorer.merge(other)
    hull = 10 * 40
    assert scorer.compute() == pytest.approx(
        {
            "object_recall": 87.5,
            "object_recall_worst": 75.0,
            "outside_hull": 100 * (60 * 80 - hull) / (60 * 80 + 350),
        }
    )
