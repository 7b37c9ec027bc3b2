"""Clustering the features of all images' cells into K parts: codebooks, cuts, and their consensus.

Parts differ in size and in variety: a bonnet is large and everywhere alike, a wheel small and
varied. k-means alone would cut the first and merge it with others, so it only makes a codebook of
many small clusters, and a normalised cut of the codebook's graph joins those into parts.

One codebook is one random way to see a collection, and two of them are cut into other parts. So
there are many, each of a few thousand cells, and parts are what their cuts agree on.

What is unlike all else is cheap to cut off, were it in one image only: the fan of a turkey. So the
codebooks are cut finer until images share K parts, and each other one joins the part it is most
like.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property

import joblib
import numpy as np

from partdino.method import DEFAULT_METHOD, Method
from partdino.metrics import ari_from_contingency, contingency_table
from partdino.parts.consensus import consensus
from partdino.parts.kmeans import ClusterSums, nearest, spherical_kmeans
from partdino.parts.normalised_cut import Spectrum, cut_each
from partdino.parts.projection import ObjectCells, Projection
from partdino.parts.sampling import some_of

# Cells whose labels the codebooks agree on: enough for a thousand in each of twenty parts.
_VOTERS = 20_000
# Runs of the k-means of one part, whose centroids are what labels photos.
_RESTARTS = 5
# Of the k-means of one codebook: the last small moves decide nothing that many agree on.
_ITERATIONS = 15


@dataclass(frozen=True, eq=False)
class PartClusters:
    """K parts as groups of directions in feature space.

    Attributes
    ----------
    mean
        float32 (D,): the mean foreground feature.
    components
        float32 (P, D): principal directions of the centred foreground features, see `Projection`.
    centroids
        float32 (M, P): unit vectors, those of one part after another.
    parts
        int64 (M,), ascending: the part of each centroid, 0..C-1, C <= K (fewer where there were
        fewer distinct features). Part number i + 1 has the centroids of i; parts are numbered from
        the largest to the smallest, unless a refit keeps the numbers of older ones.
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

    @property
    def projection(self) -> Projection:
        """What makes points of features."""
        return Projection(self.mean, self.components, self.centring)

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
        return self.of_parts(self.cosines(features, image_mean))

    def cosines(self, features: np.ndarray, image_mean: np.ndarray) -> np.ndarray:
        """Return float64 (N, M), as `similarities`, but between each feature and each centroid."""
        points = self.projection.points(*map(self.projection.reduce, (features, image_mean)))
        return points @ self.centroids.T.astype(np.float64)

    def of_parts(self, cosines: np.ndarray) -> np.ndarray:
        """Return float64 (N, C), the largest of the (N, M) `cosines` in each part."""
        _, first = np.unique(self.parts, return_index=True)
        return np.maximum.reduceat(cosines, first, axis=1)

    def refined(self, sums: ClusterSums) -> PartClusters:
        """Move each centroid to the mean of its members, as summed by a pass: a step of k-means.

        What has no members is dropped.
        """
        there = sums.mass > 0
        directions = sums.centroids(self.centroids.astype(np.float64))[there].astype(np.float32)
        parts = _largest_first(self.parts[there], sums.mass[there])
        return replace(self, centroids=directions).regrouped(parts)

    def regrouped(self, parts: np.ndarray) -> PartClusters:
        """Return the same centroids as other parts: of each its part, int64 (M,), from 0."""
        order = np.argsort(parts, kind="stable")
        return replace(self, centroids=self.centroids[order], parts=parts[order])


def _largest_first(parts: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Renumber (M,) parts 0..C-1 by falling mass."""
    _, parts = np.unique(parts, return_inverse=True)
    order = np.argsort(-np.bincount(parts, mass), kind="stable")
    return np.argsort(order)[parts]


@dataclass(frozen=True, eq=False)
class Codebooks:
    """Many codebooks of a collection, before they are cut into parts.

    Attributes
    ----------
    projection
        What makes points of features.
    points
        float64 (N, P), unit vectors: of cells that stand for all.
    weights
        float64 (N,), above 0: what each counts.
    images
        int (N,): the image that each is of.
    spectra
        Of each of the B codebooks.
    codes
        int16 (N, B): the cluster of each codebook that each point is nearest to.
    """

    projection: Projection
    points: np.ndarray
    weights: np.ndarray
    images: np.ndarray
    spectra: Sequence[Spectrum]
    codes: np.ndarray

    def cut(self, num_parts: int, seed: int, method: Method = DEFAULT_METHOD) -> PartClusters:
        """Divide the collection into K parts, each with centroids of its own.

        Each is in as many images as the method's `shared` at least, if any cut into up to 2 K has K
        such.
        """
        parts = self._shared_parts(num_parts, seed, method)
        mass = np.bincount(parts[parts >= 0], self.weights[parts >= 0])
        counts = np.rint(method.num_centroids(num_parts) * mass / mass.sum()).astype(int)
        groups = [
            self._centroids(parts == part, max(1, counts[part]), seed)
            for part in np.argsort(-mass, kind="stable")[: np.count_nonzero(mass)]
        ]
        arrays = (self.projection.mean, self.projection.components, np.concatenate(groups))
        mean, components, centroids = (array.astype(np.float32) for array in arrays)
        of_parts = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        return PartClusters(mean, components, centroids, of_parts, self.projection.centring)

    def _centroids(self, members: np.ndarray, count: int, seed: int) -> np.ndarray:
        """Return float64 (at most `count`, P), directions that stand for one part's points."""
        points, weights = self.points[members], self.weights[members]
        return spherical_kmeans(points, weights, count, seed, _RESTARTS)[0]

    def _shared_parts(self, num_parts: int, seed: int, method: Method) -> np.ndarray:
        """Return (N,) the parts, from 0, of the coarsest cut with K shared ones, or the plain cut.

        Points of parts that are not shared have -1.
        """
        enough = min(method.shared, len(np.unique(self.images)))
        for number in range(num_parts, 2 * num_parts + 1):
            parts = self._agreed(number, seed)
            pairs = np.unique(np.stack([parts, self.images]), axis=1)
            count = np.bincount(pairs[0])
            shared = np.argsort(-count, kind="stable")[:num_parts]
            if count[shared].min() >= enough:
                return np.where(np.isin(parts, shared), parts, -1)
        return self._agreed(num_parts, seed)

    def _agreed(self, num_parts: int, seed: int) -> np.ndarray:
        """Return int (N,), from 0: the parts that the cuts of all codebooks agree on."""
        return consensus(self._labels(num_parts, seed), self.weights, num_parts, seed)

    def _labels(self, num_parts: int, seed: int) -> np.ndarray:
        """Return int (N, B), from 0: the parts that each codebook alone is cut into."""
        cuts = self._cuts(num_parts, seed)
        return np.stack([cut[code] for cut, code in zip(cuts, self.codes.T, strict=True)], axis=1)

    def _cuts(self, num_parts: int, seed: int) -> list[np.ndarray]:
        """Return the part of each cluster of each codebook; made once, for parts and steadiness."""
        if (num_parts, seed) not in self._known_cuts:
            rng = np.random.default_rng(seed)
            seeds = [int(rng.integers(2**31)) for _ in self.spectra]
            self._known_cuts[num_parts, seed] = cut_each(self.spectra, num_parts, seeds)
        return self._known_cuts[num_parts, seed]

    @cached_property
    def _known_cuts(self) -> dict[tuple[int, int], list[np.ndarray]]:
        return {}

    def steadiness(self, num_parts: int, seed: int) -> float | None:
        """Return how far the parts of two halves of the codebooks agree; None where there is one.

        The adjusted Rand index of all points, 1 where the halves have the same parts, 0 where they
        agree as by chance. Two runs with other seeds, and as many codebooks each, agree about so.
        """
        if len(self.spectra) == 1:
            return None
        labels = self._labels(num_parts, seed)
        halves = labels[:, ::2], labels[:, 1::2]
        first, second = (consensus(half, self.weights, num_parts, seed) for half in halves)
        return ari_from_contingency(contingency_table(first, second))


def fit_codebooks(
    images: Sequence[ObjectCells],
    projection: Projection,
    size: int,
    seed: int = 0,
    device: str = "cpu",
    method: Method = DEFAULT_METHOD,
) -> Codebooks:
    """Cluster the features of cells finely, many times, by spherical k-means.

    A cell counts by its area.

    Parameters
    ----------
    images
        Cells of each image, of one at least.
    projection
        Of the collection.
    size
        Clusters of each codebook; there are fewer where there are fewer distinct features.
    seed
        Seed of the samples and of the clustering.
    device
        See `partdino.parts.kmeans.nearest`.
    method
        For `codebooks`, `codebook_cells` and `affinity`.

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
    >>> codebooks = fit_codebooks(images, fit_projection(images), size=12)
    >>> parts = codebooks.cut(3, seed=0)
    >>> len(parts), codebooks.codes.shape
    (3, (120, 64))
    >>> best = parts.similarities(kinds, kinds.mean(axis=0)).argmax(axis=1)
    >>> [len(set(best[kind : kind + 20])) for kind in (0, 20, 40)], len(set(best))
    ([1, 1, 1], 3)
    """
    points = np.concatenate([projection.points_of(cells) for cells in images])
    weights = np.concatenate([cells.areas for cells in images])
    of_image = np.repeat(np.arange(len(images)), [len(cells.areas) for cells in images])
    rng = np.random.default_rng(seed)
    directed = np.flatnonzero(points.any(axis=1)) if points.any() else np.arange(len(points))
    voters = directed[some_of(len(directed), _VOTERS, rng)]
    arrays = (points[voters], weights[voters], of_image[voters])

    def book(drawn: tuple[np.ndarray, int]) -> tuple[Spectrum, np.ndarray]:
        sample, run = drawn
        mass = weights[sample]
        directions, assignment = spherical_kmeans(
            points[sample], mass, size, run, 1, device, _ITERATIONS
        )
        mass = np.bincount(assignment, mass, minlength=len(directions))
        directions, mass = directions[mass > 0], mass[mass > 0]
        codes = nearest(arrays[0], directions, device)[0]
        return Spectrum.of(directions, mass, method), codes.astype(np.int16)

    drawn = [(sample, int(rng.integers(2**31))) for sample in _samples(len(points), method, rng)]
    # In threads: NumPy lets go of the interpreter where it computes, which is most of the time.
    with ThreadPoolExecutor(joblib.cpu_count(), thread_name_prefix="codebook") as threads:
        spectra, codes = zip(*threads.map(book, drawn), strict=True)
    return Codebooks(projection, *arrays, spectra, np.stack(codes, axis=1))


def _samples(count: int, method: Method, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield which of so many points each codebook is made of: all points come equally often."""
    share = min(method.codebook_cells, count)
    order = np.empty(0, np.int64)
    for _ in range(method.codebooks):
        if len(order) < share:
            order = np.concatenate([order, rng.permutation(count)])
        yield order[:share]
        order = order[share:]
