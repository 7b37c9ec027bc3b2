"""Fitting the methods that are compared: same features, foreground, numbers of parts and seeds.

- ``partdino``: this package.
- ``patch``: the training-free baseline. Patch features are centred, reduced to 64 principal
  components and clustered by spherical k-means; the patches' cosines to the clusters are upsampled.
- ``position``: the sanity floor. Clusters of the place inside the foreground's box.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from partdino.describe.description import ImageDescription
from partdino.describe.vectors import normalise
from partdino.engine.threads import one_thread
from partdino.errors import InputError
from partdino.evaluation.methods.labellers import (
    Labeller,
    ModelLabeller,
    PatchLabeller,
    PositionLabeller,
    box_coordinates,
)
from partdino.evaluation.scoring.tally import Maps
from partdino.options import SettledOptions
from partdino.parts.fitting import fit_models
from partdino.parts.kmeans import spherical_kmeans
from partdino.parts.model import PartModel
from partdino.parts.projection import principal_components
from partdino.parts.sampling import some_of
from partdino.runs.store import DescriptionStore

# The most patches or pixels that a baseline is fitted on, spread evenly over the images.
MAX_POINTS = 100_000


@dataclass(frozen=True)
class Variant:
    """Whose label maps: a method with a number of parts and a seed (None: from elsewhere)."""

    method: str
    parts: int | None
    seed: int | None


@dataclass(frozen=True, eq=False)
class FittedMethods:
    """The methods fitted with one seed, and the foreground that all of them share."""

    foreground: PartModel
    labellers: dict[Variant, Labeller]

    def label(self, description: ImageDescription) -> Iterator[tuple[Variant, Maps]]:
        """Yield the label maps of every variant, uint8 (h, w), with and without background."""
        inside = _foreground_map(self.foreground, description)
        for variant, labeller in self.labellers.items():
            parts = labeller(description, inside)
            yield variant, (parts * inside, parts)


@one_thread()
def fit_methods(
    methods: Sequence[str],
    parts: Sequence[int],
    cache: DescriptionStore,
    keys: Sequence[str],
    options: SettledOptions,
    weights_sha256: str,
) -> FittedMethods:
    """Fit every method for every number of parts.

    Parameters
    ----------
    methods
        A choice of "partdino", "patch" and "position".
    parts
        Numbers of parts.
    cache, keys
        The descriptions of the images to fit on.
    options
        Of the run, with the seed.
    weights_sha256
        Of the backbone.

    Raises
    ------
    InputError
        There is nothing to fit on.
    """
    numbers = parts if "partdino" in methods else parts[:1]
    models = fit_models(cache, keys, numbers, options, weights_sha256)
    foreground = models[parts[0]]
    labellers: dict[Variant, Labeller] = {}
    if "partdino" in methods:
        for number in parts:
            labellers[Variant("partdino", number, options.seed)] = ModelLabeller(models[number])
    if "patch" in methods:
        features = _sample(_object_patches, foreground, cache, keys, options.seed)
        for number in parts:
            labellers[Variant("patch", number, options.seed)] = _fit_patches(
                features, number, options.seed
            )
    if "position" in methods:
        places = _sample(_object_places, foreground, cache, keys, options.seed)
        for number in parts:
            labellers[Variant("position", number, options.seed)] = _fit_positions(
                places, number, options.seed
            )
    return FittedMethods(foreground, labellers)


def _foreground_map(model: PartModel, description: ImageDescription) -> np.ndarray:
    return model.foreground_cells(description)[description.cells]


def _sample(
    points_of: Callable[[ImageDescription, np.ndarray], np.ndarray],
    foreground: PartModel,
    cache: DescriptionStore,
    keys: Sequence[str],
    seed: int,
) -> np.ndarray:
    """Return float32 (N, D): an equal share of the object's points from every image."""
    share = max(1, MAX_POINTS // len(keys))
    rng = np.random.default_rng(seed)
    sample = []
    for key in keys:
        description = cache.read(key)
        points = points_of(description, _foreground_map(foreground, description))
        sample.append(points[some_of(len(points), share, rng)].astype(np.float32))
    points = np.concatenate(sample)
    if len(points) == 0:
        raise InputError(
            "no patch lies in the foreground of any image; raise --image-size, or --foreground none"
        )
    return points


def _object_patches(description: ImageDescription, foreground: np.ndarray) -> np.ndarray:
    """Return (N, D), the features of the patches whose centre is foreground."""
    patches = description.dense
    grid = patches.shape[:2]
    rows, columns = (
        (2 * np.arange(cells) + 1) * pixels // (2 * cells)
        for cells, pixels in zip(grid, foreground.shape, strict=True)
    )
    return patches[foreground[rows[:, None], columns]]


def _object_places(description: ImageDescription, foreground: np.ndarray) -> np.ndarray:
    """Return (N, 2), the (x, y) of the foreground's pixels in its box."""
    x, y = box_coordinates(foreground)
    rows, columns = np.nonzero(foreground)
    return np.stack([x[columns], y[rows]], axis=1)


def _fit_patches(features: np.ndarray, number: int, seed: int) -> PatchLabeller:
    mean = features.mean(axis=0, dtype=np.float64)
    centred = features - mean
    alike = np.ones(len(centred))
    components = principal_components(centred, alike)
    points = normalise(centred @ components.T)
    centroids, _ = spherical_kmeans(points, alike, number, seed)
    return PatchLabeller(mean, components, centroids)


def _fit_positions(points: np.ndarray, number: int, seed: int) -> PositionLabeller:
    from sklearn.cluster import KMeans

    number = min(number, len(np.unique(points, axis=0)))
    with one_thread():  # KMeans has brought threads of its own
        clusters = KMeans(number, n_init=10, random_state=seed).fit(points)
    return PositionLabeller(clusters.cluster_centers_)
