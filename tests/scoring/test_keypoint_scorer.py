"""Keypoint scores of label maps whose scores are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from partdino.evaluation import KeypointFitter, KeypointScorer, score_keypoints
from partdino.evaluation.datasets import KeypointSample

SIZE = 64
POINTS = 4


@pytest.fixture
def photo(tmp_path):
    path = tmp_path / "photo.png"
    Image.new("L", (100, 80)).save(path)
    return path


def make_samples(photo, count, seed=0, boxes=True):
    """Keypoints far apart in random photos of 100 x 80 pixels, some hidden."""
    rng = np.random.default_rng(seed)
    samples = []
    for index in range(count):
        cells = rng.choice(16, POINTS, replace=False)
        keypoints = np.stack([cells % 4 * 25 + 12, cells // 4 * 20 + 10], 1) + rng.uniform(
            -5, 5, (POINTS, 2)
        )
        box = np.array([*rng.uniform(-5, 5, 2), *rng.uniform(70, 95, 2)]) if boxes else None
        visible = rng.random(POINTS) < 0.8
        samples.append(KeypointSample(f"{index}.png", photo, keypoints, visible, box))
    return samples


def disks(sample, radius=4):
    """A label map at the photo's size with a disk for every visible keypoint."""
    labels = np.zeros((80, 100), np.uint8)
    y, x = np.mgrid[:80, :100] + 0.5
    for part, (column, row) in enumerate(sample.keypoints, start=1):
        if sample.visible[part - 1]:
            labels[np.hypot(x - column, y - row) < radius] = part
    return labels


def noise(sample, size=(SIZE, SIZE), parts=5):
    rng = np.random.default_rng(int(sample.name.removesuffix(".png")) + 99)
    return rng.integers(0, parts + 1, size).astype(np.uint8)


@pytest.mark.parametrize("boxes", [True, False])
def test_a_part_on_every_keypoint_is_perfect(photo, boxes):
    fit, score = make_samples(photo, 60, 1, boxes), make_samples(photo, 20, 2, boxes)
    scores = score_keypoints(fit, score, lambda s: (disks(s), disks(s)), SIZE)
    assert {scores[key] for key in ("nmi", "ari", "fg_nmi", "fg_ari")} == {100.0}
    # What is left is the rounding of the centroids to a grid of 64 pixels.
    assert 0 < scores["keypoint_regression"] < 1


def test_permuted_labels_score_the_same(photo):
    fit, score = make_samples(photo, 60, 1), make_samples(photo, 20, 2)
    order = np.array([0, 3, 1, 5, 2, 4])
    plain = score_keypoints(fit, score, lambda s: (noise(s), None), SIZE)
    permuted = score_keypoints(fit, score, lambda s: (order[noise(s)], None), SIZE)
    assert plain.pop("keypoint_regression") == pytest.approx(
        permuted.pop("keypoint_regression"), abs=1e-9
    )
    assert plain == permuted


def test_scores_equal_scikit_learn(photo):
    samples = make_samples(photo, 30)
    scorer = KeypointScorer(SIZE)
    true, predicted = [], []
    for sample in samples:
        labels = noise(sample)
        scorer.update(sample, labels)
        for point in np.flatnonzero(sample.visible):
            x, y = sample.keypoints[point] * [SIZE / 100, SIZE / 80]
            true.append(point)
            predicted.append(labels[int(y), int(x)])
    expected = {
        "nmi": 100 * normalized_mutual_info_score(true, predicted),
        "ari": 100 * adjusted_rand_score(true, predicted),
    }
    scores = scorer.compute()
    assert {name: scores[name] for name in expected} == pytest.approx(expected)


def test_shards_merged_equal_the_whole(photo):
    fit, score = make_samples(photo, 30, 1), make_samples(photo, 21, 2)
    whole = score_keypoints(fit, score, lambda s: (noise(s), noise(s) + 1), SIZE)
    fitters = [KeypointFitter(SIZE) for _ in range(3)]
    for index, sample in enumerate(fit):
        fitters[index % 3].update(sample, noise(sample))
    for other in fitters[1:]:
        fitters[0].merge(other)
    regression = fitters[0].fit()
    scorers = [KeypointScorer(SIZE, regression) for _ in range(3)]
    for index, sample in enumerate(score):
        scorers[index % 3].update(sample, noise(sample), noise(sample) + 1)
    for other in scorers[1:]:
        scorers[0].merge(other)
    assert scorers[0].compute() == pytest.approx(whole, abs=1e-9)


def test_foreground_is_held_to_keypoints_and_box(photo):
    (sample,) = make_samples(photo, 1)
    points = np.array([[10.0, 10.0], [30.0, 30.0], [90.0, 70.0]])  # of 100 x 80 pixels
    sample = replace(
        sample, keypoints=points, visible=np.array([1, 1, 0], bool), box=np.array([0, 0, 50, 40])
    )
    labels = np.zeros((80, 100), np.uint8)
    labels[:20, :100] = 3  # half of it in the box; one of two visible keypoints
    scorers = [KeypointScorer(80), KeypointScorer(80)]
    for scorer in scorers:
        scorer.update(sample, labels)
    scorers[0].merge(scorers[1])
    scores = scorers[0].compute()
    assert (scores["object_keypoints"], scores["outside_box"]) == (50, 50)
    assert "outside_box" not in KeypointScorer(80).compute()


def test_label_maps_of_any_size(photo):
    (sample,) = make_samples(photo, 1)
    labels = noise(sample, (16, 16))
    scorers = [KeypointScorer(SIZE) for _ in range(2)]
    scorers[0].update(sample, labels)
    scorers[1].update(sample, labels.repeat(4, axis=0).repeat(4, axis=1))
    np.testing.assert_array_equal(scorers[0].table, scorers[1].table)


def test_without_fitting_images_or_parts_without_background_their_scores_are_left_out(photo):
    scores = score_keypoints([], make_samples(photo, 3), lambda s: (noise(s), None), SIZE)
    assert scores.keys() == {"nmi", "ari", "object_keypoints", "outside_box"}


def test_nothing_to_score_gives_no_score(photo):
    (sample,) = make_samples(photo, 1)
    hidden = KeypointSample("0.png", photo, sample.keypoints, np.zeros(POINTS, bool), sample.box)
    for samples in ([], [hidden]):
        assert score_keypoints(samples, samples, lambda s: (noise(s), None), SIZE) == {}


def test_one_cluster_tells_nothing(photo):
    samples = make_samples(photo, 20)
    scores = score_keypoints(samples, samples, lambda s: (np.ones((8, 8), int), None), SIZE)
    assert scores["nmi"] == scores["ari"] == 0.0
    assert np.isfinite(scores["keypoint_regression"])


def test_a_part_absent_from_the_fitting_images_is_passed_over(photo):
    fit, score = make_samples(photo, 40, 1), make_samples(photo, 10, 2)

    def labels(sample, last):
        return np.minimum(noise(sample), last)

    def error(predict):
        return score_keypoints(fit, score, predict, SIZE)["keypoint_regression"]

    known = error(lambda s: (labels(s, 4), None))
    more = error(lambda s: (np.where(labels(s, 4) == 4, 4 + (s in score), labels(s, 4)), None))
    assert np.isfinite(more) and more != known


def test_images_whose_eyes_coincide_are_left_out_of_the_regression(photo):
    samples = make_samples(photo, 30, boxes=False)
    first = samples[0]
    eyes = first.keypoints.copy()
    eyes[1] = eyes[0]
    broken = KeypointSample("0.png", photo, eyes, first.visible, None)
    scores = score_keypoints(samples, samples[1:], lambda s: (noise(s), None), SIZE)
    with_broken = score_keypoints(
        [*samples, broken], [broken, *samples[1:]], lambda s: (noise(s), None), SIZE
    )
    assert with_broken["keypoint_regression"] == scores["keypoint_regression"]
