"""Fitting in passes over images that are read one at a time: the same as with all in memory."""

from __future__ import annotations

import weakref
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
import pytest

from partdino.describe.description import ImageDescription
from partdino.describe.settling import settled_of
from partdino.describe.vectors import normalise
from partdino.method import DEFAULT_METHOD
from partdino.options import Options
from partdino.parts import fitting
from partdino.parts.codebook import PartClusters, fit_codebooks
from partdino.parts.fitting import PASSES, fit_model
from partdino.parts.kmeans import ClusterSums, nearest, spherical_kmeans
from partdino.parts.projection import by_image, fit_projection, principal_components


def clustered(count: int = 4000, directions: int = 20, seed: int = 0):
    """Unit vectors around some directions in images of 50, and their weights."""
    rng = np.random.default_rng(seed)
    centres = normalise(rng.normal(size=(directions, 16)))
    points = centres[rng.integers(directions, size=count)] + 0.15 * rng.normal(size=(count, 16))
    return normalise(points), rng.uniform(0.1, 1, count)


def pieces(points: np.ndarray, weights: np.ndarray, size: int):
    return ((points[i : i + size], weights[i : i + size]) for i in range(0, len(points), size))


def mean_cosine(points, weights, centroids):
    return np.average((points @ centroids.T).max(axis=1), weights=weights)


def total(points: np.ndarray, weights: np.ndarray, size: int, directions: np.ndarray):
    return reduce(
        add, (ClusterSums.of(*piece, directions) for piece in pieces(points, weights, size))
    )


def clusters(directions: np.ndarray) -> PartClusters:
    """All of one part, whose order passes keep."""
    parts = np.zeros(len(directions), np.int64)
    return PartClusters(np.zeros(16), np.eye(16), directions.astype(np.float32), parts, 0.9)


@pytest.mark.parametrize("size", [1, 37, 4000])
def test_passes_over_pieces_are_steps_of_k_means(size):
    points, weights = clustered()
    found = clusters(points[:20])
    expected = points[:20]
    for _ in range(4):
        found = found.refined(total(points, weights, size, found.centroids))
        members = np.eye(20)[(points @ expected.T).argmax(axis=1)]
        expected = normalise((members * weights[:, None]).T @ points)
    np.testing.assert_allclose(found.centroids, expected, atol=1e-5)


def test_a_sample_and_passes_over_all_come_within_a_hundredth_of_the_full_batch():
    points, weights = clustered()
    full, _ = spherical_kmeans(points, weights, 40, restarts=1)
    chosen = np.random.default_rng(0).choice(len(points), 400, replace=False)
    start, _ = spherical_kmeans(points[chosen], weights[chosen], 40, restarts=1)
    refined = clusters(start)
    for _ in range(PASSES):
        refined = refined.refined(total(points, weights, 50, refined.centroids))
    best = mean_cosine(points, weights, full)
    reached = mean_cosine(points, weights, refined.centroids)
    assert reached > 0.99 * best
    assert reached > mean_cosine(points, weights, start)


def test_an_empty_cluster_is_dropped_and_parts_are_numbered_anew_by_size():
    points, _ = clustered()
    lost = normalise(-points.sum(axis=0, keepdims=True))
    start = np.concatenate([points[:3], lost])
    before = replace(clusters(start), parts=np.array([0, 0, 1, 2]))
    refined = before.refined(ClusterSums.of(points[:3], np.array([1.0, 1.0, 5.0]), start))
    assert refined.parts.tolist() == [0, 1, 1]
    np.testing.assert_allclose(refined.centroids, points[[2, 0, 1]], atol=1e-6)


def test_sums_of_pieces_add_up_to_those_of_the_whole():
    points, weights = clustered(500)
    whole = ClusterSums.of(points, weights, points[:9])
    parts = total(points, weights, 60, points[:9])
    for first, second in zip(vars(whole).values(), vars(parts).values(), strict=True):
        np.testing.assert_allclose(first, second, atol=1e-9)
    assert whole.cosine == pytest.approx(weights.sum() * mean_cosine(points, weights, points[:9]))


def test_the_projection_is_that_of_all_features_at_once():
    rng = np.random.default_rng(0)
    images = np.repeat(np.arange(20), 40)
    features = (
        rng.normal(size=(800, 24)) * np.linspace(1, 3, 24) + rng.normal(size=(20, 24))[images]
    )
    areas = rng.uniform(0.1, 1, 800)
    cells = by_image(features, areas, images)
    mean = np.average(features, axis=0, weights=areas)
    image_means = np.stack([each.mean for each in cells])
    centred = (
        features
        - DEFAULT_METHOD.centring * image_means[images]
        - (1 - DEFAULT_METHOD.centring) * mean
    )
    projection = fit_projection(cells)
    np.testing.assert_allclose(projection.mean, mean)
    components = principal_components(centred, areas)
    np.testing.assert_allclose(projection.components, components, atol=1e-9)
    points = np.concatenate([projection.points_of(each) for each in cells])
    np.testing.assert_allclose(points, normalise(centred @ components.T), atol=1e-9)


def test_a_device_of_torch_finds_the_same_centroids(monkeypatch):
    points, _ = clustered(100)
    assignment, cosines = nearest(points, points[:9])
    monkeypatch.setattr("partdino.parts.kmeans._compare_in_numpy", None)
    found, similarity = nearest(points, points[:9], "cpu:0")
    np.testing.assert_array_equal(found, assignment)
    np.testing.assert_allclose(similarity, cosines, atol=1e-6)


class Store:
    """Images of three parts in a row of cells each, made when they are read."""

    def __init__(self, count: int) -> None:
        self.names = [str(number) for number in range(count)]
        self.alive = weakref.WeakSet()
        self.most_alive = 0

    def part(self, names: list[str]) -> Store:
        return self

    def read(self, name: str, pixels: bool) -> ImageDescription:
        assert not pixels
        rng = np.random.default_rng(int(name))
        parts = np.repeat([0, 1, 2], [20, 10, 6])
        features = np.eye(3, 12)[parts] + rng.normal(size=12) + 0.05 * rng.normal(size=(36, 12))
        description = ImageDescription(
            size=(36, 10),
            cells=None,
            regions=parts,
            areas=np.full(36, 10),
            features=features.astype(np.float16),
            contrast=np.zeros(36, np.float32),
            edges=np.stack([np.arange(35), np.arange(1, 36)], axis=1).astype(np.int32),
            border_length=np.full(35, 10, np.int32),
            strength=np.where(np.diff(parts), 9, 0).astype(np.float16),
        )
        self.alive.add(description)
        self.most_alive = max(self.most_alive, len(self.alive))
        return description


def fit(store: Store, **options: object):
    options = Options(parts=3, foreground="none", device="cpu", **options)
    return fit_model(store, store.names, 3, settled_of(options), "").parts


def test_who_leads_a_cluster_needs_no_gpu():
    store = Store(10)
    given = {"parts": 3, "foreground": "none", "engine": "ray"}
    first, second = (Options(device=device, **given) for device in ("cuda", "cpu"))
    models = [
        fit_model(store, store.names, 3, settled_of(options), "").parts
        for options in (first, second)
    ]
    assert same(*models)


def same(first, second) -> bool:
    return all(
        np.array_equal(a, b)
        for a, b in zip(vars(first).values(), vars(second).values(), strict=True)
    )


@pytest.fixture
def small_sample(monkeypatch):
    monkeypatch.setattr(fitting, "MAX_IMAGES", 10)
    monkeypatch.setattr(fitting, "MAX_CELLS", 200)


@pytest.mark.usefixtures("small_sample")
def test_no_more_than_two_images_are_held_at_once():
    store = Store(40)
    fit(store, fit_on="all")
    assert store.most_alive <= 2  # the last one until the next is there


@pytest.mark.usefixtures("small_sample")
def test_the_mean_is_that_of_all_images_and_not_of_the_sample():
    store = Store(40)
    features = np.concatenate([store.read(name, False).features for name in store.names])
    expected = features.astype(np.float64).mean(axis=0)
    np.testing.assert_allclose(fit(store, fit_on="all").mean, expected, atol=1e-3)
    assert np.abs(fit(store).mean - expected).max() > 0.1


@pytest.mark.usefixtures("small_sample")
def test_the_same_seed_gives_the_same_bits_and_another_one_others():
    first, again, other = (fit(Store(40), fit_on="all", seed=seed) for seed in (3, 3, 4))
    assert same(first, again)
    assert not same(first, other)


def test_where_everything_is_in_the_sample_passes_change_little():
    store = Store(12)
    sample, everything = fit(store), fit(store, fit_on="all")
    np.testing.assert_array_equal(sample.components, everything.components)
    cosines = (sample.centroids @ everything.centroids.T).max(axis=1)
    assert cosines.mean() > 0.98


def test_a_sample_is_centred_on_the_mean_of_the_whole_object():
    cells = by_image(np.random.default_rng(0).normal(size=(30, 8)), np.ones(30), np.zeros(30))[0]
    projection = fit_projection([cells])
    chosen = np.array([3, 7])
    points = projection.points_of(cells)[chosen]
    np.testing.assert_allclose(projection.points_of(cells.take(chosen)), points)
    assert fit_codebooks([cells.take(chosen)], projection, 5).points.shape == (2, 8)
