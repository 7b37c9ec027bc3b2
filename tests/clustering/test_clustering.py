"""Spherical k-means: finds what is there, counts weights, and is the same every time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.metrics import adjusted_rand_score

from partdino.describe.vectors import normalise
from partdino.parts.kmeans import spherical_kmeans
from partdino.parts.kmeans_of_many import cluster_each
from partdino.parts.seeding import spread_out


def planted(
    num_clusters: int, per_cluster: int, spread: float, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Unit vectors around random directions; return points, their clusters, the directions."""
    rng = np.random.default_rng(seed)
    directions = normalise(rng.normal(size=(num_clusters, 64)))
    truth = rng.permutation(np.repeat(np.arange(num_clusters), per_cluster))
    noise = rng.normal(size=(len(truth), 64)) * spread / 8
    return normalise(directions[truth] + noise), truth, directions


@pytest.mark.parametrize("num_clusters", [2, 5, 8])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_planted_clusters_are_found(num_clusters, seed):
    points, truth, directions = planted(num_clusters, 40, spread=0.5, seed=seed)
    centroids, assignment = spherical_kmeans(points, np.ones(len(points)), num_clusters, seed)
    assert adjusted_rand_score(truth, assignment) == 1
    cosines = centroids @ directions.T
    assert (cosines.max(axis=1) > 0.99).all()
    assert sorted(cosines.argmax(axis=1)) == list(range(num_clusters))


def test_small_clusters_survive_large_ones():
    points, truth, _ = planted(3, 300, spread=0.5)
    kept = np.concatenate([np.flatnonzero(truth == 0)[:10], np.flatnonzero(truth > 0)])
    _, assignment = spherical_kmeans(points[kept], np.ones(len(kept)), 3)
    assert adjusted_rand_score(truth[kept], assignment) == 1


def test_the_same_seed_gives_the_same_bits_whatever_the_global_generator():
    points, _, _ = planted(6, 30, spread=2.5)
    weights = np.random.default_rng(1).uniform(0.1, 1, len(points))
    results = []
    for state in (0, 1):
        np.random.seed(state)
        results.append(spherical_kmeans(points, weights, 9, seed=4))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_array_equal(results[0][1], results[1][1])


def test_one_cluster_is_the_direction_of_the_weighted_mean():
    points, _, _ = planted(3, 20, spread=1.0)
    weights = np.random.default_rng(0).uniform(0.01, 1, len(points))
    centroids, assignment = spherical_kmeans(points, weights, 1)
    np.testing.assert_allclose(centroids[0], normalise(weights @ points), atol=1e-12)
    assert not assignment.any()


def test_weights_decide_where_centroids_are_scarce():
    points = np.eye(3)
    for heavy in range(3):
        weights = np.full(3, 1.0)
        weights[heavy] = 100
        centroids, _ = spherical_kmeans(points, weights, 2)
        assert (centroids @ points[heavy]).max() == pytest.approx(1, abs=1e-3)


def test_a_weight_counts_as_so_many_points():
    points, _, _ = planted(4, 12, spread=0.7)
    repeats = np.random.default_rng(0).integers(1, 6, len(points))
    weighted, _ = spherical_kmeans(points, repeats.astype(float), 4)
    repeated, _ = spherical_kmeans(np.repeat(points, repeats, axis=0), np.ones(repeats.sum()), 4)
    np.testing.assert_allclose((weighted @ repeated.T).max(axis=1), 1, atol=1e-9)


def test_the_scale_of_weights_does_not_matter():
    points, _, _ = planted(4, 12, spread=0.7)
    small, large = (spherical_kmeans(points, np.full(len(points), w), 4)[0] for w in (2**-20, 2**9))
    np.testing.assert_array_equal(small, large)


@pytest.mark.parametrize("num_clusters", [3, 4, 50])
def test_there_are_no_more_clusters_than_distinct_points(num_clusters):
    points = np.repeat(np.eye(3), [1, 4, 2], axis=0)
    centroids, assignment = spherical_kmeans(points, np.ones(7), num_clusters)
    assert len(centroids) == 3
    np.testing.assert_array_equal(centroids[assignment], points)


def test_a_single_point_is_its_cluster():
    centroids, assignment = spherical_kmeans(np.eye(4)[:1], np.ones(1), 5)
    np.testing.assert_array_equal(centroids, np.eye(4)[:1])
    np.testing.assert_array_equal(assignment, [0])


def test_null_vectors_do_no_harm():
    directions, truth, _ = planted(2, 10, spread=0.3)
    points = np.concatenate([np.zeros((2, 64)), directions])
    centroids, assignment = spherical_kmeans(points, np.ones(len(points)), 4)
    assert np.isfinite(centroids).all()
    assert not set(assignment[2:][truth == 0]) & set(assignment[2:][truth == 1])


@settings(deadline=None, max_examples=25)
@given(
    num_points=st.integers(1, 40),
    num_clusters=st.integers(1, 8),
    dim=st.integers(2, 5),
    seed=st.integers(0, 1000),
)
def test_the_result_is_a_fixed_point(num_points, num_clusters, dim, seed):
    rng = np.random.default_rng(seed)
    points = normalise(rng.normal(size=(num_points, dim)))
    weights = rng.uniform(0.1, 1, num_points)
    centroids, assignment = spherical_kmeans(points, weights, num_clusters, seed)
    assert 1 <= len(centroids) <= min(num_clusters, num_points)
    np.testing.assert_allclose(np.linalg.norm(centroids, axis=1), 1)
    similarity = points @ centroids.T
    np.testing.assert_array_equal(assignment, similarity.argmax(axis=1))
    for cluster in set(assignment):
        members = assignment == cluster
        mean = normalise(weights[members] @ points[members])
        np.testing.assert_allclose(centroids[cluster], mean, atol=1e-9)


def test_it_is_as_good_as_k_means_of_unit_vectors():
    """The Euclidean problem on the sphere has the same optima but for the centroids' lengths."""
    points, _, _ = planted(10, 30, spread=2.0)
    centroids, _ = spherical_kmeans(points, np.ones(len(points)), 10)
    other = normalise(KMeans(10, n_init=10, random_state=0).fit(points).cluster_centers_)
    ours, theirs = ((points @ c.T).max(axis=1).mean() for c in (centroids, other))
    assert ours > 0.99 * theirs


def test_normalise_keeps_null_vectors():
    vectors = np.array([[3.0, 4.0], [0.0, 0.0]])
    np.testing.assert_array_equal(normalise(vectors), [[0.6, 0.8], [0, 0]])


@pytest.mark.parametrize("count", [1, 2, 9])
def test_seeds_are_those_of_scikit_learn(count):
    sets = [planted(6, 20, spread=1.5, seed=seed)[0] for seed in range(3)]
    weights = np.random.default_rng(0).uniform(0.1, 1, (3, 120))
    chosen = spread_out(np.stack(sets), weights, count, [3, 4, 5])
    for points, mass, seed, found in zip(sets, weights, (3, 4, 5), chosen, strict=True):
        _, expected = kmeans_plusplus(points, count, sample_weight=mass, random_state=seed)
        np.testing.assert_array_equal(found, expected)


def test_clusters_of_many_sets_are_those_of_each():
    rng = np.random.default_rng(0)
    sets = normalise(rng.normal(size=(7, 50, 6)))
    sets[2, 5:] = sets[2, 4]  # five distinct points, fewer than clusters
    weights = rng.uniform(0.1, 1, (7, 50))
    found = cluster_each(sets, weights, 8, range(7), restarts=4)
    for seed, (points, mass, clusters) in enumerate(zip(sets, weights, found, strict=True)):
        np.testing.assert_array_equal(clusters, spherical_kmeans(points, mass, 8, seed, 4)[1])
    assert found[2].max() == 4
