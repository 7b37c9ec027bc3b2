"""Parts from features: the codebook's graph is cut where it is thin."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from partdino.describe.vectors import normalise
from partdino.method import Method
from partdino.parts.codebook import fit_codebooks
from partdino.parts.consensus import consensus
from partdino.parts.normalised_cut import Spectrum
from partdino.parts.projection import by_image, fit_projection


def arcs(lengths, per_unit=60, seed=0):
    """Unit vectors along arcs of some lengths (radians) in planes of their own, with some noise."""
    rng = np.random.default_rng(seed)
    points, truth = [], []
    for part, length in enumerate(lengths):
        angle = rng.uniform(0, length, round(per_unit * length))
        arc = np.zeros((len(angle), 2 * len(lengths)))
        arc[:, 2 * part], arc[:, 2 * part + 1] = np.cos(angle), np.sin(angle)
        points.append(arc)
        truth.append(np.full(len(angle), part))
    points = np.concatenate(points)
    return normalise(points + 0.02 * rng.normal(size=points.shape)), np.concatenate(truth)


def test_varied_parts_stay_whole_beside_compact_ones():
    """Where k-means would cut the longest arc, whose ends are unlike, the cut follows the gaps."""
    points, truth = arcs([1.5, 0.4, 0.4, 0.4])
    parts = Spectrum.of(points, np.ones(len(points))).cut(4, seed=0)
    assert adjusted_rand_score(truth, parts) == 1


def test_heavier_directions_and_repeated_ones_are_the_same():
    points, _ = arcs([1.0, 0.5, 0.3], per_unit=30)
    heavy, light = (Spectrum.of(points, np.full(len(points), mass)) for mass in (2.0, 1.0))
    np.testing.assert_array_equal(heavy.cut(3, seed=0), light.cut(3, seed=0))


@pytest.mark.parametrize("count", [1, 3])
def test_no_more_directions_than_parts(count):
    assert Spectrum.of(np.eye(3)[:count], np.ones(count)).cut(3, 0).tolist() == list(range(count))


def test_divisions_agree_on_what_none_of_them_has_right():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [60, 30, 10])
    labels = np.stack([rng.permutation(3)[truth] for _ in range(40)], axis=1)
    wrong = rng.random(labels.shape) < 0.35
    labels[wrong] = rng.integers(3, size=wrong.sum())
    assert max(adjusted_rand_score(truth, each) for each in labels.T) < 0.8
    assert adjusted_rand_score(truth, consensus(labels, np.ones(100), 3)) == 1


def fit_parts(features, areas, images, num_parts, seed=0, method=None):
    cells, method = by_image(features, areas, images), method or Method()
    books = fit_codebooks(cells, fit_projection(cells, method), 64, seed, method=method)
    return books.cut(num_parts, seed, method)


def test_many_codebooks_make_seeds_agree():
    """On a cloud that is longer than wide but has no gaps, where one codebook is as good as any."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(1500, 12)) * np.linspace(3, 1, 12)
    images = np.repeat(np.arange(15), 100)

    def agreement(codebooks):
        fits = (
            fit_parts(features, np.ones(1500), images, 4, seed, Method(codebooks=codebooks))
            for seed in range(4)
        )
        labels = [fit.similarities(features, features.mean(axis=0)).argmax(axis=1) for fit in fits]
        return np.mean([adjusted_rand_score(*pair) for pair in combinations(labels, 2)])

    one, many = agreement(1), agreement(64)
    assert many > one + 0.1


def collection(num_images=30, seed=0):
    """Cells of images with three parts, the image's own look added to all of its cells."""
    rng = np.random.default_rng(seed)
    directions = normalise(rng.normal(size=(3, 40)))
    truth = np.tile(np.repeat([0, 1, 2], [12, 6, 2]), num_images)
    images = np.repeat(np.arange(num_images), 20)
    looks = 2 * normalise(rng.normal(size=(num_images, 40)))
    noise = 0.02 * rng.normal(size=(len(truth), 40))
    return directions[truth] + looks[images] + noise, truth, images


def test_steadiness_tells_parts_from_pieces_of_a_cloud():
    rng = np.random.default_rng(0)
    parts, cloud = collection()[0], rng.normal(size=(600, 40))
    images = np.repeat(np.arange(30), 20)
    steadiness = []
    for features in (parts, cloud):
        cells = by_image(features, np.ones(600), images)
        books = fit_codebooks(cells, fit_projection(cells), 64)
        steadiness.append(books.steadiness(3, seed=0))
    assert steadiness[0] == 1
    assert steadiness[1] < 0.6


def test_one_codebook_has_no_halves_that_could_agree():
    cells = by_image(collection()[0], np.ones(600), np.repeat(np.arange(30), 20))
    books = fit_codebooks(cells, fit_projection(cells), 64, method=Method(codebooks=1))
    assert books.steadiness(3, seed=0) is None


def test_parts_are_found_under_the_looks_of_the_images_and_numbered_by_size():
    features, truth, images = collection()
    parts = fit_parts(features, np.ones(len(features)), images, 3, seed=0)
    found = []
    for image in range(images.max() + 1):
        own = features[images == image]
        scores = parts.similarities(own, own.mean(axis=0))
        assert scores.shape == (20, 3) and np.abs(scores).max() <= 1 + 1e-6
        found.append(scores.argmax(axis=1))
    np.testing.assert_array_equal(np.concatenate(found), truth)


def test_what_one_image_alone_has_is_no_part():
    features, truth, images = collection()
    rng = np.random.default_rng(1)
    fan = 3 * normalise(rng.normal(size=40)) + 0.02 * rng.normal(size=(200, 40))
    features = np.concatenate([features, fan])
    images = np.concatenate([images, np.zeros(200, int)])
    parts = fit_parts(features, np.ones(len(features)), images, 3)
    found = []
    for image in range(1, images.max() + 1):
        own = features[images == image]
        found.append(parts.similarities(own, own.mean(axis=0)).argmax(axis=1))
    assert adjusted_rand_score(truth[images[: len(truth)] > 0], np.concatenate(found)) == 1


def test_similarities_are_to_the_nearest_centroid_of_each_part():
    features, _, images = collection()
    parts = fit_parts(features, np.ones(len(features)), images, 2, seed=1)
    own = features[images == 0]
    scores = parts.similarities(own, own.mean(axis=0))
    centred = own - 0.9 * own.mean(axis=0) - 0.1 * parts.mean
    cosines = normalise(centred @ parts.components.T) @ parts.centroids.T
    for part in range(2):
        expected = cosines[:, parts.parts == part].max(axis=1)
        np.testing.assert_allclose(scores[:, part], expected, atol=1e-5)


def test_the_same_seed_gives_the_same_bits():
    features, _, images = collection()
    areas = np.random.default_rng(0).uniform(0.1, 1, len(features))
    first, second = (fit_parts(features, areas, images, 3, seed=5) for _ in range(2))
    for name in ("mean", "components", "centroids", "parts"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def test_fewer_distinct_features_than_parts():
    features = np.repeat(np.eye(2, 10), 5, axis=0)
    parts = fit_parts(features, np.ones(10), np.zeros(10, int), 6)
    assert len(np.unique(parts.parts)) <= 2
