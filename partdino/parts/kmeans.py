"""Spherical k-means (Dhillon & Modha, 2001): clusters of unit vectors by the cosine.

What a pass over the points learns is a sum (`ClusterSums`): sums of pieces, made wherever the
pieces are, add up to that of the whole. So the points need not be in memory at once.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_matrix

from partdino.describe.vectors import normalise

RESTARTS = 10
_MAX_ITERATIONS = 100
_ROWS = 8192  # that are compared with all centroids at once, which bounds the memory


@dataclass(frozen=True, eq=False)
class ClusterSums:
    """What one pass over weighted points learns about clusters.

    Attributes
    ----------
    vectors
        float64 (C, P), the weighted sum of each cluster's members.
    mass
        float64 (C,), the weight of each cluster's members.
    cosine
        The weighted sum of all points' cosines with their centroids: what k-means maximises.
    """

    vectors: np.ndarray
    mass: np.ndarray
    cosine: float

    @classmethod
    def of(
        cls, points: np.ndarray, weights: np.ndarray, centroids: np.ndarray, device: str = "cpu"
    ) -> ClusterSums:
        """Assign points to their nearest centroids and sum; parameters as of `nearest`."""
        assignment, cosines = nearest(points, centroids, device)
        columns = np.arange(len(points) + 1)  # with one entry each
        members = csc_matrix((weights, assignment, columns), (len(centroids), len(points)))
        mass = np.bincount(assignment, weights, minlength=len(centroids))
        return cls(members @ points, mass, float(weights @ cosines))

    def __add__(self, other: ClusterSums) -> ClusterSums:
        """Return what a pass over both sets of points would have learnt."""
        return ClusterSums(
            self.vectors + other.vectors, self.mass + other.mass, self.cosine + other.cosine
        )

    def centroids(self, previous: np.ndarray) -> np.ndarray:
        """Return the new centroids; a cluster that lost all its points keeps its place."""
        kept = np.linalg.norm(self.vectors, axis=1, keepdims=True) > 0
        return np.where(kept, normalise(self.vectors), previous)


def nearest(
    points: np.ndarray, centroids: np.ndarray, device: str = "cpu"
) -> tuple[np.ndarray, np.ndarray]:
    """Find the centroid that is nearest to each point.

    Parameters
    ----------
    points
        float64 (N, P).
    centroids
        float64 (C, P).
    device
        Of torch, where the cosines are computed in float32; "cpu" stays with float64 and NumPy.

    Returns
    -------
    assignment
        int64 (N,).
    cosines
        float64 (N,), with that centroid.
    """
    assignment = np.empty(len(points), np.int64)
    cosines = np.empty(len(points))
    compare = _compare_in_numpy if device == "cpu" else _compare_in_torch
    for start in range(0, len(points), _ROWS):
        rows = slice(start, start + _ROWS)
        cosines[rows], assignment[rows] = compare(points[rows], centroids, device)
    return assignment, cosines


def spherical_kmeans(
    points: np.ndarray,
    weights: np.ndarray,
    num_clusters: int,
    seed: int = 0,
    restarts: int = RESTARTS,
    device: str = "cpu",
    iterations: int = _MAX_ITERATIONS,
) -> tuple[np.ndarray, np.ndarray]:
    """Cluster unit vectors by the cosine, with greedy k-means++ seeding.

    Parameters
    ----------
    points
        float64 (N, P), unit vectors (null vectors are allowed).
    weights
        float64 (N,), above 0.
    num_clusters
        The most clusters to make; as many as there are distinct points at most.
    seed
        Same seed, same result.
    restarts
        Runs, of which the best is kept.
    device
        See `nearest`.
    iterations
        The most steps of a run.

    Returns
    -------
    centroids
        float64 (C, P), unit vectors.
    assignment
        int64 (N,), the centroid of every point.
    """
    rng = np.random.default_rng(seed)
    runs = [
        _kmeans_once(points, weights, num_clusters, rng, device, iterations)
        for _ in range(restarts)
    ]
    centroids, assignment, _ = max(runs, key=lambda run: run[2])
    return centroids, assignment


def _compare_in_numpy(
    points: np.ndarray, centroids: np.ndarray, device: str
) -> tuple[np.ndarray, np.ndarray]:
    similarities = points @ centroids.T
    return similarities.max(axis=1), similarities.argmax(axis=1)


def _compare_in_torch(
    points: np.ndarray, centroids: np.ndarray, device: str
) -> tuple[np.ndarray, np.ndarray]:
    import torch

    left, right = (torch.from_numpy(a.astype(np.float32)).to(device) for a in (points, centroids))
    cosines, assignment = (left @ right.T).max(dim=1)
    return cosines.cpu().numpy(), assignment.cpu().numpy()


def _kmeans_once(
    points: np.ndarray,
    weights: np.ndarray,
    num_clusters: int,
    rng: np.random.Generator,
    device: str,
    iterations: int,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return centroids, assignment and the weighted sum of cosines."""
    centroids = _seed_centroids(points, weights, num_clusters, rng)
    for _ in range(iterations):
        sums = ClusterSums.of(points, weights, centroids, device)
        previous, centroids = centroids, sums.centroids(centroids)
        if np.array_equal(previous, centroids):
            break
    assignment, cosines = nearest(points, centroids, device)
    return centroids, assignment, float(weights @ cosines)


def _seed_centroids(
    points: np.ndarray, weights: np.ndarray, num_clusters: int, rng: np.random.Generator
) -> np.ndarray:
    """Greedy k-means++ (Arthur & Vassilvitskii, 2007), without repeats and null vectors."""
    from sklearn import config_context
    from sklearn.cluster import kmeans_plusplus

    seed = int(rng.integers(2**31))
    directed = points.any(axis=1)
    if not directed.any():
        return points[:1]
    if not directed.all():
        points, weights = points[directed], weights[directed]
    count = min(num_clusters, len(points))
    unchecked = config_context(assume_finite=True, skip_parameter_validation=True)
    # Warnings are of fewer distinct points than clusters: repeats are dropped.
    with warnings.catch_warnings(), unchecked:
        warnings.simplefilter("ignore")
        chosen, _ = kmeans_plusplus(points, count, sample_weight=weights, random_state=seed)
    _, first = np.unique(chosen.round(9), axis=0, return_index=True)
    return chosen[np.sort(first)]
