"""Clustering the features of all images' cells into K parts: a codebook, and a normalised cut.

Parts differ in size and in variety: a bonnet is large and everywhere alike, a wheel small and
varied. k-means alone would cut the first and merge it with others, so it only makes a codebook of
many small clusters, and a normalised cut of the codebook's graph joins those into parts.

What is unlike all else is cheap to cut off, were it in one image only: the fan of a turkey. So the
graph is cut finer until images share K parts, and each other one joins the part it is most like.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from partdino.describe.vectors import normalise
from partdino.method import DEFAULT_METHOD, Method
from partdino.parts.kmeans import ClusterSums, spherical_kmeans
from partdino.parts.projection import ObjectCells, Projection


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
    centring
        See `Projection`.
    """

    mean: np.ndarray
    components: np.ndarray
    centroids: np.ndarray
    parts: np.ndarray
    centring: float

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
            float (D,), the mean feature of the object, see `partdino.parts.projection.object_mean`.

        Returns
        -------
        float64 (N, C), the cosine between each feature and the nearest centroid of each part.
        """
        projection = Projection(self.mean, self.components, self.centring)
        points = projection.points(projection.reduce(features), projection.reduce(image_mean))
        cosines = points @ self.centroids.T.astype(np.float64)
        _, first = np.unique(self.parts, return_index=True)
        return np.maximum.reduceat(cosines, first, axis=1)


@dataclass(frozen=True, eq=False)
class Codebook:
    """Many small clusters, before they are joined into parts.

    Attributes
    ----------
    projection
        What makes points of features.
    directions
        float64 (M, P), unit vectors.
    mass
        float64 (M,), above 0: the share of all area that is in each.
    presence
        bool (M, N): in which of the N images of the sample each is.
    """

    projection: Projection
    directions: np.ndarray
    mass: np.ndarray
    presence: np.ndarray

    def refined(self, sums: ClusterSums) -> Codebook:
        """Move each cluster to the mean of its members, as summed by a pass: a step of k-means."""
        directions = sums.centroids(self.directions)
        return _without_empty(self.projection, directions, sums.mass, self.presence)

    def cut(self, num_parts: int, seed: int, method: Method = DEFAULT_METHOD) -> PartClusters:
        """Divide the codebook into K parts, by `normalised_cut`.

        Each is in as many images as the method's `shared` at least, if any cut into up to 2 K has K
        such.
        """
        parts = _largest_first(self._shared_parts(num_parts, seed, method), self.mass)
        order = np.argsort(parts, kind="stable")
        arrays = (self.projection.mean, self.projection.components, self.directions[order])
        mean, components, centroids = (array.astype(np.float32) for array in arrays)
        return PartClusters(mean, components, centroids, parts[order], self.projection.centring)

    def _shared_parts(self, num_parts: int, seed: int, method: Method) -> np.ndarray:
        """Return (M,) the parts of the coarsest cut with K shared ones, or of the plain cut."""
        enough = min(method.shared, self.presence.shape[1])
        for number in range(num_parts, 2 * num_parts + 1):
            parts = normalised_cut(self.directions, self.mass, number, seed, method)
            present = [self.presence[parts == part].any(axis=0) for part in range(parts.max() + 1)]
            count = np.sum(present, axis=1)
            shared = np.argsort(-count, kind="stable")[:num_parts]
            if count[shared].min() >= enough:
                kept = np.isin(parts, shared)
                return parts[kept][(self.directions @ self.directions[kept].T).argmax(axis=1)]
        return normalised_cut(self.directions, self.mass, num_parts, seed, method)


def fit_codebook(
    images: Sequence[ObjectCells],
    projection: Projection,
    size: int,
    seed: int = 0,
    device: str = "cpu",
    method: Method = DEFAULT_METHOD,
) -> Codebook:
    """Cluster the features of cells finely, by spherical k-means. A cell counts by its area.

    Parameters
    ----------
    images
        Cells of each image, of one at least.
    projection
        Of the collection.
    size
        The number of clusters; there are fewer where there are fewer distinct features.
    seed
        Seed of the clustering.
    device
        See `partdino.parts.kmeans.nearest`.
    method
        For `codebook_runs`.

    Examples
    --------
    Two images, each with cells of three kinds:

    >>> from partdino.parts.projection import ObjectCells, fit_projection
    >>> rng = np.random.default_rng(0)
    >>> kinds = np.repeat(np.eye(8)[:3], 20, axis=0)
    >>> images = [
    ...     ObjectCells.whole(kinds + 0.01 * rng.normal(size=kinds.shape), np.ones(60))
    ...     for _ in range(2)
    ... ]
    >>> codebook = fit_codebook(images, fit_projection(images), size=12)
    >>> parts = codebook.cut(3, seed=0)
    >>> len(parts), codebook.presence.shape
    (3, (12, 2))
    >>> best = parts.similarities(kinds, kinds.mean(axis=0)).argmax(axis=1)
    >>> [len(set(best[kind : kind + 20])) for kind in (0, 20, 40)], len(set(best))
    ([1, 1, 1], 3)
    """
    points = np.concatenate([projection.points_of(cells) for cells in images])
    areas = np.concatenate([cells.areas for cells in images])
    directions, assignment = spherical_kmeans(
        points, areas, size, seed, method.codebook_runs, device
    )
    mass = np.bincount(assignment, areas, minlength=len(directions))
    image = np.repeat(np.arange(len(images)), [len(cells.areas) for cells in images])
    presence = np.zeros((len(directions), len(images)), bool)
    presence[assignment, image] = True
    return _without_empty(projection, directions, mass, presence)


def _without_empty(
    projection: Projection, directions: np.ndarray, mass: np.ndarray, presence: np.ndarray
) -> Codebook:
    there = mass > 0
    return Codebook(projection, directions[there], mass[there] / mass.sum(), presence[there])


def _largest_first(parts: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Renumber (M,) parts 0..C-1 by falling mass."""
    _, parts = np.unique(parts, return_inverse=True)
    order = np.argsort(-np.bincount(parts, mass), kind="stable")
    return np.argsort(order)[parts]


def normalised_cut(
    directions: np.ndarray,
    mass: np.ndarray,
    num_parts: int,
    seed: int,
    method: Method = DEFAULT_METHOD,
) -> np.ndarray:
    """Divide the graph of all directions into parts that are alike within and unlike between.

    Two directions are alike by ``exp((cosine - 1) / affinity)``, times the root of both masses. The
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
    method
        For `affinity`.

    Returns
    -------
    int64 (M,), numbered from 0; one part each where there are K directions or fewer.
    """
    if len(directions) <= num_parts:
        return np.arange(len(directions))
    alike = np.exp((directions @ directions.T - 1) / method.affinity) * np.sqrt(
        np.outer(mass, mass)
    )
    degree = np.sqrt(alike.sum(axis=0))
    _, vectors = np.linalg.eigh(alike / np.outer(degree, degree))
    coordinates = normalise(vectors[:, -num_parts:])
    return spherical_kmeans(coordinates, mass, num_parts, seed)[1]
