"""Pixel scores of label maps whose scores are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from partdino.evaluation import PixelScorer, resize_nearest, score_pixels
from partdino.evaluation.datasets import MaskSample

GRID = 32


def make_sample(seed, parts=5, size=(45, 60)):
    """A ground truth of blocks, cut by no grid line of the evaluation."""
    rng = np.random.default_rng(seed)
    truth = resize_nearest(rng.integers(0, parts + 1, (5, 6)).astype(np.uint8), size)
    return MaskSample(f"{seed}.jpg", Path(f"{seed}.jpg"), size, lambda: truth)


def noise(sample, parts=4):
    rng = np.random.default_rng(int(sample.path.stem) + 99)
    return rng.integers(0, parts + 1, (9, 12)).astype(np.uint8)


SAMPLES = [make_sample(seed) for seed in range(8)]
few = settings(max_examples=20, deadline=None)


@pytest.mark.parametrize("labelled_only", [False, True])
def test_ground_truth_scores_100(labelled_only):
    scores = score_pixels(
        SAMPLES, lambda s: (s.label_map(), np.maximum(s.label_map(), 1)), GRID, labelled_only
    )
    names = {"nmi", "ari", "miou", "band_nmi", "band_ari", "band_miou", "boundary_f"}
    expected = dict.fromkeys(names | {"fg_nmi", "fg_ari"}, 100.0)
    if not labelled_only:
        expected |= {"object_recall": 100.0, "object_recall_worst": 100.0, "outside_hull": 0.0}
    assert scores == expected


@few
@given(st.permutations(range(1, 5)))
def test_permuted_parts_score_the_same(order):
    table = np.array([0, *order])
    plain = score_pixels(SAMPLES, lambda s: (noise(s), None), GRID)
    assert score_pixels(SAMPLES, lambda s: (table[noise(s)], None), GRID) == pytest.approx(plain)


@few
@given(st.lists(st.integers(0, 2), min_size=len(SAMPLES), max_size=len(SAMPLES)))
def test_shards_merged_equal_the_whole(assignment):
    shards = [PixelScorer(GRID) for _ in range(3)]
    for sample, shard in zip(SAMPLES, assignment, strict=True):
        shards[shard].update(sample, noise(sample), noise(sample) + 1)
    for other in shards[1:]:
        shards[0].merge(other)
    whole = score_pixels(SAMPLES, lambda s: (noise(s), noise(s) + 1), GRID)
    assert shards[0].compute() == whole


@pytest.mark.parametrize("labelled_only", [False, True])
def test_scores_equal_scikit_learn(labelled_only):
    scores = score_pixels(SAMPLES, lambda s: (noise(s), noise(s) + 1), GRID, labelled_only)
    square = (GRID, GRID)
    true, labels = (
        np.concatenate([resize_nearest(of(s), square).ravel() for s in SAMPLES])
        for of in (MaskSample.label_map, noise)
    )
    shown = true > 0 if labelled_only else true >= 0
    inside = true > 0
    expected = {
        "nmi": normalized_mutual_info_score(true[shown], labels[shown]),
        "ari": adjusted_rand_score(true[shown], labels[shown]),
        "fg_nmi": normalized_mutual_info_score(true[inside], labels[inside]),
        "fg_ari": adjusted_rand_score(true[inside], labels[inside]),
    }
    assert {key: scores[key] / 100 for key in expected} == pytest.approx(expected)


def test_unlabelled_pixels_change_nothing_where_only_labelled_ones_count():
    def spoilt(sample):
        truth = sample.label_map()
        return np.where(truth > 0, truth, np.arange(truth.shape[1]) % 5)

    scores = score_pixels(SAMPLES, lambda s: (spoilt(s), None), GRID, labelled_only=True)
    assert set(scores.values()) == {100.0}
    assert score_pixels(SAMPLES, lambda s: (spoilt(s), None), GRID)["ari"] < 90


def test_band_scores_see_only_the_band():
    """Two parts of which the prediction misplaces the boundary by 3 of 32 columns."""
    truth, labels = (np.ones((GRID, GRID), np.uint8) for _ in range(2))
    truth[:, 16:] = 2
    labels[:, 19:] = 2
    sample = MaskSample("a.jpg", Path("a.jpg"), truth.shape, lambda: truth)
    scores = score_pixels([sample], lambda s: (labels, None), GRID)
    assert scores["miou"] == pytest.approx(50 * (16 / 19 + 13 / 16))
    assert scores["band_miou"] == pytest.approx(50 * (5 / 8 + 2 / 5))
    # The tolerance at 32 pixels is 1: no boundary pixel of one is near the other's.
    assert scores["boundary_f"] == 0.0


def test_no_image_gives_no_score():
    assert score_pixels([], lambda s: (noise(s), None), GRID) == {}


def test_images_without_parts_have_no_part_scores():
    empty = MaskSample("0.jpg", Path("0.jpg"), (8, 8), lambda: np.zeros((8, 8), np.uint8))
    blank = np.zeros((4, 4), int)
    assert score_pixels([empty], lambda s: (blank, None), GRID) == {
        "nmi": 100.0,
        "ari": 100.0,
        "boundary_f": 100.0,
    }
    assert score_pixels([empty], lambda s: (blank, None), GRID, labelled_only=True) == {}


def test_background_everywhere_finds_nothing():
    scores = score_pixels(SAMPLES, lambda s: (np.zeros((3, 3), int), None), GRID)
    assert set(scores.values()) == {0.0}
