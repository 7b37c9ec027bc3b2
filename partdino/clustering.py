"""Clustering the features of all images' cells into K parts: centring, PCA, and a normalised cut.

What an image's object looks like as a whole (its species, its paint) tells nothing about its
parts, so most of the image's own mean is removed from its features before anything is compared.
Parts differ in size and in variety: a bonnet is large and everywhere alike, a wheel small and
varied. k-means alone would cut the first and merge it with others, so it only makes a codebook of
many small clusters, and a normalised cut of the codebook's graph joins those into parts.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.cluster import kmeans_plusplus

# Share of an image's own mean that is removed. All of it would lose what the parts that an image
# shows have in common: the front of a car seen from the front.
CENTRING = 0.9
PCA_DIM = 64
CODEBOOK = 128  # small clusters, or twice the number of parts where that is more
RUNS = 1  # of the codebook's k-means: one small cluster more or less decides little
RESTARTS = 10
_AFFINITY = 0.15  # directions whose cosine is lower by this much are alike 1 / e as much
_MAX_ITERATIONS = 100


@dataclass(frozen=True, eq=False)
class PartClusters:
    """K parts as groups of directions in feature space.

    Attributes
    ----------
    mean
        float32 (D,): the mean foreground feature.
    components
        float32 (P, D): orthonormal principal directions of the centred foreground features.
    centroids
        float32 (M, P): unit vectors, those of one part after another.
    parts
        int64 (M,), ascending: the part of each centroid, 0..C-1, C <= K (fewer where there were
        fewer distinct features). Part number i + 1 has the centroids of i; parts are numbered from
        the largest to the smallest.
    """

    mean: np.ndarray
    components: np.ndarray
    centroids: np.ndarray
    parts: np.ndarray

    def __len__(self) -> int:
        """Return C, the number of parts found."""
        return int(self.parts[-1]) + 1

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
        float64 (N, C), the cosine between each feature and the nearest centroid of each part.
        """
        centred = features.astype(np.float64) - _centre(self.mean, image_mean)
        cosines = normalise(centred @ self.components.T) @ self.centroids.T.astype(np.float64)
        _, first = np.unique(self.parts, return_index=True)
        return np.maximum.reduceat(cosines, first, axis=1)


@dataclass(frozen=True, eq=False)
class Codebook:
    """Many small clusters, before they are joined into parts.

    Attributes
    ----------
    mean, components
        As of `PartClusters`.
    directions
        float64 (M, P), unit vectors.
    mass
        float64 (M,), above 0: the share of all area that is in each.
    """

    mean: np.ndarray
    components: np.ndarray
    directions: np.ndarray
    mass: np.ndarray

    def cut(self, num_parts: int, seed: int) -> PartClusters:
        """Divide the codebook into K parts; see `normalised_cut`."""
        parts = normalised_cut(self.directions, self.mass, num_parts, seed)
        parts = _largest_first(parts, self.mass)
        order = np.argsort(parts, kind="stable")
        arrays = (self.mean, self.components, self.directions[order])
        return PartClusters(*(array.astype(np.float32) for array in arrays), parts[order])


def fit_parts(
    features: np.ndarray, areas: np.ndarray, images: np.ndarray, num_parts: int, seed: int = 0
) -> PartClusters:
    """Cluster the features of cells into parts: `fit_codebook`, and a normalised cut of it.

    Where there are fewer distinct features than parts, there are fewer parts.
    """
    return fit_codebook(features, areas, images, codebook_size(num_parts), seed).cut(
        num_parts, seed
    )


def codebook_size(num_parts: int) -> int:
    """Return how many small clusters K parts are made of."""
    return max(CODEBOOK, 2 * num_parts)


def fit_codebook(
    features: np.ndarray, areas: np.ndarray, images: np.ndarray, size: int, seed: int = 0
) -> Codebook:
    """Cluster the features of cells finely.

    Features are centred (see `CENTRING`), reduced to 64 principal components, scaled to unit length
    and clustered by spherical k-means (Dhillon & Modha, 2001). A cell counts by its area.

    Parameters
    ----------
    features
        float (N, D), features of foreground cells, N >= 1.
    areas
        float (N,), above 0.
    images
        int (N,), the image of each cell, numbered from 0.
    size
        The number of clusters; there are fewer where there are fewer distinct features.
    seed
        Seed of the clustering.
    """
    weights = areas / areas.sum()
    mean = np.average(features, axis=0, weights=areas)
    members = csr_matrix((areas, (images, np.arange(len(areas)))))
    totals = np.bincount(images, areas)
    image_means = (members @ features) / np.where(totals > 0, totals, 1)[:, None]
    centred = features - _centre(mean, image_means)[images]
    components = principal_components(centred, weights)
    points = normalise(centred @ components.T)
    directions, assignment = spherical_kmeans(points, weights, size, seed, RUNS)
    mass = np.bincount(assignment, weights, minlength=len(directions))
    return Codebook(mean, components, directions[mass > 0], mass[mass > 0])


def _largest_first(parts: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Renumber (M,) parts 0..C-1 by falling mass."""
    _, parts = np.unique(parts, return_inverse=True)
    order = np.argsort(-np.bincount(parts, mass), kind="stable")
    return np.argsort(order)[parts]


def normalised_cut(
    directions: np.ndarray, mass: np.ndarray, num_parts: int, seed: int
) -> np.ndarray:
    """Divide the graph of all directions into parts that are alike within and unlike between.

    Two directions are alike by ``exp((cosine - 1) / 0.15)``, times the root of both masses. The
    directions' coordinates in the first K eigenvectors of the normalised graph are clustered.

    Parameters
    ----------
    directions
        float64 (M, P), unit vectors.
    mass
        float64 (M,), above 0: how much each counts.
    num_parts
        K.
    seed
        Seed of the clustering.

    Returns
    -------
    int64 (M,), numbered from 0; one part each where there are K directions or fewer.
    """
    if len(directions) <= num_parts:
        return np.arange(len(directions))
    alike = np.exp((directions @ directions.T - 1) / _AFFINITY) * np.sqrt(np.outer(mass, mass))
    degree = np.sqrt(alike.sum(axis=0))
    _, vectors = np.linalg.eigh(alike / np.outer(degree, degree))
    coordinates = normalise(vectors[:, -num_parts:])
    return spherical_kmeans(coordinates, mass, num_parts, seed)[1]


def object_mean(features: np.ndarray, areas: np.ndarray) -> np.ndarray:
    """Return float64 (D,), the mean of (R, D) region features of one image's object by area."""
    return np.average(features.astype(np.float64), axis=0, weights=areas)


def _centre(mean: np.ndarray, image_mean: np.ndarray) -> np.ndarray:
    return CENTRING * image_mean + (1 - CENTRING) * mean


def spherical_kmeans(
    points: np.ndarray,
    weights: np.ndarray,
    num_clusters: int,
    seed: int = 0,
    restarts: int = RESTARTS,
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

    Returns
    -------
    centroids
        float64 (C, P), unit vectors.
    assignment
        int64 (N,), the centroid of every point.
    """
    rng = np.random.default_rng(seed)
    runs = [_kmeans_once(points, weights, num_clusters, rng) for _ in range(restarts)]
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
    members = csr_matrix(
        (weights, (assignment, np.arange(len(points)))), (len(centroids), len(points))
    )
    sums = members @ points
    # A cluster that lost all its points keeps its place.
    return np.where(np.linalg.norm(sums, axis=1, keepdims=True) > 0, normalise(sums), centroids)
