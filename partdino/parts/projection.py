"""From features to the unit vectors that are clustered: centring and PCA.

What an image's object looks like as a whole (its species, its paint) tells nothing about its
parts, so most of the object's own mean is removed from its features before anything is compared.
All that a collection's projection needs are sums over its images (`Moments`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from partdino.describe.vectors import normalise
from partdino.method import DEFAULT_METHOD, Method
from partdino.parts.axes import axis_weights


@dataclass(frozen=True, eq=False)
class ObjectCells:
    """Cells of one image's object: all of them, or a sample.

    Attributes
    ----------
    features
        float (N, D), N >= 1.
    areas
        float (N,), above 0.
    mean
        float64 (D,): of the whole object, see `object_mean`.
    """

    features: np.ndarray
    areas: np.ndarray
    mean: np.ndarray

    @classmethod
    def whole(cls, features: np.ndarray, areas: np.ndarray) -> ObjectCells:
        """Return all cells of an object."""
        return cls(features, areas, object_mean(features, areas))

    def take(self, chosen: np.ndarray) -> ObjectCells:
        """Return a sample, by index."""
        return ObjectCells(self.features[chosen], self.areas[chosen], self.mean)


@dataclass(frozen=True, eq=False)
class Projection:
    """What turns features into unit vectors.

    Attributes
    ----------
    mean
        float (D,): the mean feature of all objects.
    components
        float (P, D): principal directions of the centred features, orthonormal but for axes that
        `partdino.parts.axes.axis_weights` has scaled down.
    centring
        The share of an image's own mean that is removed, see `Method`.
    """

    mean: np.ndarray
    components: np.ndarray
    centring: float

    def reduce(self, features: np.ndarray) -> np.ndarray:
        """Return float64 (..., P), the coordinates of features (..., D) that are not centred."""
        return features.astype(np.float64) @ self.components.T.astype(np.float64)

    def points(self, reduced: np.ndarray, image_mean: np.ndarray) -> np.ndarray:
        """Return unit vectors (N, P) from coordinates of one image's features and of its mean."""
        common = (1 - self.centring) * self.reduce(self.mean)
        return normalise(reduced - self.centring * image_mean - common)

    def points_of(self, cells: ObjectCells) -> np.ndarray:
        """Return float64 (N, P), the unit vectors of one image's cells."""
        return self.points(self.reduce(cells.features), self.reduce(cells.mean))


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums over cells, of which a projection can be made; those of two sets of images add up.

    Attributes
    ----------
    weight
        The area of all cells.
    features
        float64 (D,), the sum of features by area.
    centred
        float64 (D,), the same of the features less their image's share (see `Projection`).
    products
        float64 (D, D), the same of the outer products of those with themselves.
    """

    weight: float
    features: np.ndarray
    centred: np.ndarray
    products: np.ndarray

    @classmethod
    def of(cls, cells: ObjectCells, centring: float) -> Moments:
        """Sum over the cells of one image."""
        features = cells.features.astype(np.float64)
        centred = features - centring * cells.mean
        weighted = centred * cells.areas[:, None]
        return cls(
            float(cells.areas.sum()),
            cells.areas @ features,
            weighted.sum(axis=0),
            weighted.T @ centred,
        )

    def __add__(self, other: Moments) -> Moments:
        """Return the sums over both sets of cells."""
        return Moments(*map(add, vars(self).values(), vars(other).values()))

    def projection(self, method: Method = DEFAULT_METHOD) -> Projection:
        """Return the mean and the principal directions of all cells.

        The method's `centring` is what the sums were made with; `dimensions` are kept, of axes as
        `axis_weights` has them.
        """
        centre = self.centred / self.weight
        covariance = self.products / self.weight - np.outer(centre, centre)
        axes = axis_weights(covariance.diagonal(), method)
        components = axes * principal_directions(
            axes[:, None] * covariance * axes, method.dimensions
        )
        return Projection(self.features / self.weight, components, method.centring)


def fit_projection(images: Iterable[ObjectCells], method: Method = DEFAULT_METHOD) -> Projection:
    """Return the projection of a collection, from one pass over its images (1 at least)."""
    moments = (Moments.of(cells, method.centring) for cells in images)
    return reduce(add, moments).projection(method)


def by_image(features: np.ndarray, areas: np.ndarray, images: np.ndarray) -> list[ObjectCells]:
    """Divide features (N, D) and areas (N,) of whole objects by their images, int (N,)."""
    return [
        ObjectCells.whole(features[images == image], areas[images == image])
        for image in np.unique(images)
    ]


def stack(images: Sequence[ObjectCells]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what `by_image` divides; images are numbered from 0."""
    counts = [len(cells.areas) for cells in images]
    return (
        np.concatenate([cells.features for cells in images]),
        np.concatenate([cells.areas for cells in images]),
        np.repeat(np.arange(len(images)), counts),
    )


def object_mean(features: np.ndarray, areas: np.ndarray) -> np.ndarray:
    """Return float64 (D,), the mean of (N, D) features of one image's object by area."""
    return np.average(features.astype(np.float64), axis=0, weights=areas)


def principal_components(
    centred: np.ndarray, weights: np.ndarray, dimensions: int = DEFAULT_METHOD.dimensions
) -> np.ndarray:
    """Return float64 (P, D), the principal directions of (N, D) points that weights (N,) count."""
    return principal_directions((centred * weights[:, None]).T @ centred, dimensions)


def principal_directions(covariance: np.ndarray, dimensions: int) -> np.ndarray:
    """Return float64 (P, D), the first P = min(dimensions, D) eigenvectors of a (D, D) matrix."""
    _, vectors = np.linalg.eigh(covariance)
    components = vectors[:, ::-1][:, :dimensions].T
    # The sign of an eigenvector is arbitrary: fix it, so that files from two runs can be compared.
    largest = np.abs(components).argmax(axis=1)
    return components * np.sign(components[np.arange(len(components)), largest])[:, None]
