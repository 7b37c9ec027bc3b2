"""Spherical k-means of many small sets of points at once, each as if it were alone.

Of a few dozen points, a step computes for microseconds and takes a hundred in Python. So all sets
are stepped together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from partdino.parts.kmeans import MAX_ITERATIONS, directions, run_seeds, sum_members
from partdino.parts.seeding import spread_out


def cluster_each(
    points: np.ndarray,
    weights: np.ndarray,
    num_clusters: int,
    seeds: Sequence[int],
    restarts: int,
) -> np.ndarray:
    """Cluster the unit vectors of each set by the cosine.

    Parameters
    ----------
    points
        float64 (S, N, P), unit vectors.
    weights
        float64 (S, N), above 0.
    num_clusters
        K, N at most.
    seeds
        One for each set.
    restarts
        R, runs of each set, of which the best is kept.

    Returns
    -------
    int64 (S, N), from 0: the clusters of `partdino.parts.kmeans.spherical_kmeans` of each set.
    """
    points, weights = (np.repeat(array, restarts, axis=0) for array in (points, weights))
    runs = [run for seed in seeds for run in run_seeds(seed, restarts)]
    chosen = spread_out(points, weights, num_clusters, runs)
    centroids = np.take_along_axis(points, chosen[:, :, None], axis=1)
    repeats = _repeats(centroids)
    for _ in range(MAX_ITERATIONS):
        assignment, _ = _nearest(points, centroids, repeats)
        previous, centroids = centroids, _moved(points, weights, centroids, assignment)
        if np.array_equal(previous, centroids):
            break
    assignment, cosines = _nearest(points, centroids, repeats)
    numbers = np.cumsum(~repeats, axis=1) - 1
    assignment = np.take_along_axis(numbers, assignment, axis=1)
    gain = (weights[:, None] @ cosines[:, :, None]).reshape(len(seeds), restarts)
    return assignment.reshape(len(seeds), restarts, -1)[np.arange(len(seeds)), gain.argmax(axis=1)]


def _repeats(centroids: np.ndarray) -> np.ndarray:
    """Return bool (R, K), whether each centroid (R, K, P) is one of those before it."""
    rounded = centroids.round(9)
    same = (rounded[:, :, None] == rounded[:, None]).all(axis=3)
    return np.tril(same, -1).any(axis=2)


def _nearest(
    points: np.ndarray, centroids: np.ndarray, left_out: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the centroid that is nearest to each point, and the cosine, each (R, N)."""
    cosines = points @ centroids.swapaxes(1, 2)
    cosines += np.where(left_out, -np.inf, 0)[:, None]
    assignment = cosines.argmax(axis=2)
    return assignment, np.take_along_axis(cosines, assignment[:, :, None], axis=2)[:, :, 0]


def _moved(
    points: np.ndarray, weights: np.ndarray, centroids: np.ndarray, assignment: np.ndarray
) -> np.ndarray:
    """Return the centroids (R, K, P) after a step."""
    count, num_clusters, dim = centroids.shape
    clusters = assignment + num_clusters * np.arange(count)[:, None]
    vectors = sum_members(
        points.reshape(-1, dim), weights.ravel(), clusters.ravel(), count * num_clusters
    )
    return directions(vectors, centroids.reshape(-1, dim)).reshape(centroids.shape)
