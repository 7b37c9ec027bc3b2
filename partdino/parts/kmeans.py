"""Spherical k-means (Dhillon & Modha, 2001): clusters of unit vectors by the cosine.

What a pass over the points learns is a sum (`ClusterSums`): sums of pieces, made wherever the
pieces are, add up to that of the whole. So the points need not be in memory at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_matrix

from partdino.describe.vectors import normalise
from partdino.parts.seeding import spread_out

RESTARTS = 10
MAX_ITERATIONS = 100
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
        vectors = sum_members(points, weights, assignment, len(centroids))
        mass = np.bincount(assignment, weights, minlength=len(centroids))
        return cls(vectors, mass, float(weights @ cosines))

    def __add__(self, other: ClusterSums) -> ClusterSums:
        """Return what a pass over both sets of points would have learnt."""
        return ClusterSums(
            self.vectors + other.vectors, self.mass + other.mass, self.cosine + other.cosine
        )

    def centroids(self, previous: np.ndarray) -> np.ndarray:
        """Return the new centroids; a cluster that lost all its points keeps its place."""
        return directions(self.vectors, previous)


def sum_members(
    points: np.ndarray, weights: np.ndarray, assignment: np.ndarray, num_clusters: int
) -> np.ndarray:
    """Return float64 (C, P), the weighted sum of each cluster's points (N, P)."""
    columns = np.arange(len(points) + 1)  # with one entry each
    members = csc_matrix((weights, assignment, columns), (num_clusters, len(points)))
    return members @ points


def directions(vectors: np.ndarray, previous: np.ndarray) -> np.ndarray:
    """Scale sums (C, P) to unit length; where there was nothing to add, the previous stays."""
    kept = np.linalg.norm(vectors, axis=1, keepdims=True) > 0
    return np.where(kept, normalise(vectors), previous)


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
    iterations: int = MAX_ITERATIONS,
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
    runs = [
        _kmeans_once(points, weights, num_clusters, run, device, iterations)
        for run in run_seeds(seed, restarts)
    ]
    centroids, assignment, _ = max(runs, key=lambda run: run[2])
    return centroids, assignment


def run_seeds(seed: int, restarts: int) -> list[int]:
    """Return the seed of each run."""
    rng = np.random.default_rng(seed)
    return [int(rng.integers(2**31)) for _ in range(restarts)]


def _compare_in_numpy(
    points: np.ndarray, centroids: np.ndarray, device: str
) -> tuple[np.ndarray, np.ndarray]:
    similarities = points @ centroids.T
    assignment = similarities.argmax(axis=1)
    return similarities[np.arange(len(points)), assignment], assignment


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
    seed: int,
    device: str,
    iterations: int,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return centroids, assignment and the weighted sum of cosines."""
    centroids = _seed_centroids(points, weights, num_clusters, seed)
    for _ in range(iterations):
        sums = ClusterSums.of(points, weights, centroids, device)
        previous, centroids = centroids, sums.centroids(centroids)
        if np.array_equal(previous, centroids):
            break
    assignment, cosines = nearest(points, centroids, device)
    return centroids, assignment, float(weights @ cosines)


def _seed_centroids(
    points: np.ndarray, weights: np.ndarray, num_clusters: int, seed: int
) -> np.ndarray:
    """Return centroids to begin with, without repeats and null vectors."""
    directed = points.any(axis=1)
    if not directed.any():
        return points[:1]
    if not directed.all():
        points, weights = points[directed], weights[directed]
    count = min(num_clusters, len(points))
    chosen = points[spread_out(points[None], weights[None], count, [seed])[0]]
    _, first = np.unique(chosen.round(9), axis=0, return_index=True)
    return chosen[np.sort(first)]
