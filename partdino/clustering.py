"""Clustering the pooled features of all images into K parts: centring, PCA, spherical k-means.

What an image's object looks like as a whole (its species, its paint) tells nothing about its
parts, so most of the image's own mean is removed from its features before anything is compared.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.cluster import kmeans_plusplus

# Share of an image's own mean that is removed. All of it would lose what the parts that an image
# shows have in common: the front of a car seen from the front.
CENTRING = 0.7
PCA_DIM = 64
RESTARTS = 10
_MAX_ITERATIONS = 100


@dataclass(frozen=True, eq=False)
class PartClusters:
    """K parts as directions in feature space.

    Attributes
    ----------
    mean
        float32 (D,): the mean foreground feature.
    components
        float32 (P, D): orthonormal principal directions of the centred foreground features.
    centroids
        float32 (C, P): unit vectors, C <= K (fewer where there were fewer distinct regions);
        part number i + 1 has centroid i. Parts are numbered from the largest to the smallest.
    """

    mean: np.ndarray
    components: np.ndarray
    centroids: np.ndarray

    def similarities(self, features: np.ndarray, image_mean: np.ndarray) -> np.ndarray:
        """Compare features of one image with the parts.

        Parameters
        ----------
        features
            float (N, D).
        image_mean
            float (D,), the mean feature of the image's object, see `object_mean`.

        Returns
        -------
        float64 (N, C), the cosine between each feature and each centroid.
        """
        centred = features.astype(np.float64) - _centre(self.mean, image_mean)
        return normalise(centred @ self.components.T) @ self.centroids.T.astype(np.float64)


def fit_parts(
    features: np.ndarray, areas: np.ndarray, images: np.ndarray, num_parts: int, seed: int = 0
) -> PartClusters:
    """Cluster region features into parts.

    Features are centred (see `CENTRING`), reduced to 64 principal components, scaled to unit length
    and clustered by spherical k-means (Dhillon & Modha, 2001) with k-means++ seeding; the best of
    10 restarts is kept. A region counts by the root of its area, so that one even-coloured body
    does not outweigh all the small parts.

    Parameters
    ----------
    features
        float (N, D), pooled features of foreground regions, N >= 1.
    areas
        float (N,), above 0.
    images
        int (N,), the image of each region, 0..M-1.
    num_parts
        K. Where there are fewer distinct regions, there are fewer centroids.
    seed
        Seed of the restarts.
    """
    weights = np.sqrt(areas) / np.sqrt(areas).sum()
    mean = np.average(features, axis=0, weights=areas)
    members = csr_matrix((areas, (images, np.arange(len(areas)))))
    totals = np.bincount(images, areas)
    image_means = (members @ features) / np.where(totals > 0, totals, 1)[:, None]
    centred = features - _centre(mean, image_means)[images]
    components = principal_components(centred, weights)
    points = normalise(centred @ components.T)
    centroids, assignment = spherical_kmeans(points, weights, num_parts, seed)
    mass = np.bincount(assignment, areas, minlength=len(centroids))
    order = np.argsort(-mass, kind="stable")
    return PartClusters(*(a.astype(np.float32) for a in (mean, components, centroids[order])))


def object_mean(features: np.ndarray, areas: np.ndarray) -> np.ndarray:
    """Return float64 (D,), the mean of (R, D) region features of one image's object by area."""
    return np.average(features.astype(np.float64), axis=0, weights=areas)


def _centre(mean: np.ndarray, image_mean: np.ndarray) -> np.ndarray:
    return CENTRING * image_mean + (1 - CENTRING) * mean


def spherical_kmeans(
    points: np.ndarray, weights: np.ndarray, num_clusters: int, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Cluster unit vectors by the cosine, the best of `RESTARTS` runs.

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

    Returns
    -------
    centroids
        float64 (C, P), unit vectors.
    assignment
        int64 (N,), the centroid of every point.
    """
    rng = np.random.default_rng(seed)
    runs = [_kmeans_once(points, weights, num_clusters, rng) for _ in range(RESTARTS)]
    centroids = max(runs, key=lambda run: run[1])[0]
    return centroids, (points @ centroids.T).argmax(axis=1)


def normalise(vectors: np.ndarray) -> np.ndarray:
    """Scale the last axis to unit length; null vectors stay null."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(length > 0, length, 1)


def principal_components(centred: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return float64 (P, D), the `PCA_DIM` first principal directions of weighted (N, D) points."""
    covariance = (centred * weights[:, None]).T @ centred
    _, vectors = np.linalg.eigh(covariance)
    components = vectors[:, ::-1][:, :PCA_DIM].T
    # The sign of an eigenvector is arbitrary: fix it, so that files from two runs can be compared.
    largest = np.abs(components).argmax(axis=1)
    return components * np.sign(components[np.arange(len(components)), largest])[:, None]


def _kmeans_once(
    points: np.ndarray, weights: np.ndarray, num_clusters: int, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    centroids = _seed_centroids(points, weights, num_clusters, rng)
    assignment = None
    for _ in range(_MAX_ITERATIONS):
        similarities = points @ centroids.T
        previous, assignment = assignment, similarities.argmax(axis=1)
        if previous is not None and np.array_equal(previous, assignment):
            break
        centroids = _update(points, weights, assignment, centroids)
    return centroids, float(weights @ (points @ centroids.T).max(axis=1))


def _seed_centroids(
    points: np.ndarray, weights: np.ndarray, num_clusters: int, rng: np.random.Generator
) -> np.ndarray:
    """Greedy k-means++ (Arthur & Vassilvitskii, 2007), without repeats and null vectors."""
    seed = int(rng.integers(2**31))
    directed = points.any(axis=1)
    if not directed.any():
        return points[:1]
    points, weights = points[directed], weights[directed]
    count = min(num_clusters, len(points))
    with warnings.catch_warnings():  # of fewer distinct points than clusters: repeats are dropped
        warnings.simplefilter("ignore")
        chosen, _ = kmeans_plusplus(points, count, sample_weight=weights, random_state=seed)
    _, first = np.unique(chosen.round(9), axis=0, return_index=True)
    return chosen[np.sort(first)]


def _update(
    points: np.ndarray, weights: np.ndarray, assignment: np.ndarray, centroids: np.ndarray
) -> np.ndarray:
    member = np.zeros((len(centroids), len(points)))
    member[assignment, np.arange(len(points))] = weights
    sums = member @ points
    # A cluster that lost all its points keeps its place.
    return np.where(np.linalg.norm(sums, axis=1, keepdims=True) > 0, normalise(sums), centroids)
