"""From the descriptions of all images to the fitted model: the collection half of the method.

::

    descriptions --> foreground --> projection --> codebooks --> parts --> PartModel

Whatever the collection's size, memory holds a bounded sample and one image more. The foreground
and the codebooks are always those of the sample. With ``fit_on`` "all", projection and the
parts' centroids are made of every object cell, in passes over the images: workers map pieces of the
collection to sums, and those are added up in the pieces' order, so it doesn't matter who made them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Protocol, TypeVar

import numpy as np

from partdino.describe.description import ImageDescription
from partdino.engine.outcomes import in_order
from partdino.engine.pool import Pool
from partdino.engine.threads import one_thread
from partdino.errors import InputError
from partdino.method import Method
from partdino.options import FittedOptions, SettledOptions
from partdino.part_range import candidates
from partdino.parts.codebook import Codebooks, PartClusters, fit_codebooks
from partdino.parts.foreground import ForegroundModel, foreground_cells
from partdino.parts.foreground_learning import learn_foreground
from partdino.parts.kmeans import ClusterSums
from partdino.parts.model import PartModel
from partdino.parts.part_number import Watch, part_curve, unwatched
from partdino.parts.projection import Moments, ObjectCells, Projection, fit_projection, stack
from partdino.parts.sampling import evenly_spaced, some_of
from partdino.parts.smoothing import smooth_cells

Sums = TypeVar("Sums", Moments, ClusterSums)

# The most cells to hold at once, and the most images to take them from.
MAX_CELLS = 100_000
MAX_IMAGES = 5_000
# Over all cells, from the centroids of a sample: further ones gain under 0.1% in cosine.
PASSES = 5
# Images of a piece, whose sums are made together: as many as a block of a store has.
_PIECE = 32


class Descriptions(Protocol):
    """Where fitting reads descriptions from, one at a time."""

    def read(self, key: str, pixels: bool = True) -> ImageDescription:
        """Return a description, or that without what only labelling needs."""

    def part(self, keys: Sequence[str]) -> Descriptions:
        """Return what holds these at least, and is quickly sent to a worker."""


def fit_model(
    store: Descriptions,
    names: Sequence[str],
    asked: int | str,
    options: SettledOptions,
    weights_sha256: str,
    pool: Pool | None = None,
    watch: Watch = unwatched,
) -> PartModel:
    """Fit the foreground and the parts; see `fit_models`."""
    return fit_models(store, names, [asked], options, weights_sha256, pool, watch)[asked]


@one_thread()
def fit_models(
    store: Descriptions,
    names: Sequence[str],
    numbers: Sequence[int | str],
    options: SettledOptions,
    weights_sha256: str,
    pool: Pool | None = None,
    watch: Watch = unwatched,
) -> dict[int | str, PartModel]:
    """Fit the foreground once, and the parts for each number of parts.

    Parameters
    ----------
    store
        Holds the descriptions.
    names
        The images to learn from. Of more than `MAX_IMAGES` images or `MAX_CELLS` cells a
        sample is taken, spread evenly; see `Options.fit_on` for what is learnt of all.
    numbers
        Numbers of parts, K; what `candidates` takes stands for the best of these.
    options
        Of the run.
    weights_sha256
        Of the backbone.
    pool
        Workers that pass over all images, for ``fit_on`` "all"; None does that in this process.
    watch
        Shows how far the choice of a number of parts is.

    Returns
    -------
    dict of int or str to PartModel
        The models by what was asked; all have the same foreground.

    Raises
    ------
    InputError
        There is no image, or no foreground in any of them.
    """
    if not names:
        raise InputError("no image could be read, so there is nothing to fit")
    method = options.numbers
    sample = evenly_spaced(names, MAX_IMAGES)
    foreground = None
    if options.foreground == "auto":
        foreground = find_foreground(store, sample, options)
    cells = _sample_cells(_Objects(store, sample, foreground, method), options.seed)
    if not cells:
        if options.foreground == "masks":
            raise InputError(
                f"the masks in {options.masks} are empty: none has a pixel over 0; check --masks"
            )
        raise InputError(
            "no foreground was found in any image; --foreground none takes the images as all object"
        )
    if options.fit_on == "sample":
        everything, projection = None, fit_projection(cells, method)
    else:
        everything = _Objects(store, names, foreground, method)
        projection = _total(_Objects.moments, everything, pool).projection(method)

    @cache
    def codebooks(size: int) -> Codebooks:
        return fit_codebooks(cells, projection, size, options.seed, options.device_here, method)

    models: dict[int | str, PartModel] = {}
    for asked in numbers:
        if isinstance(asked, str):
            curve = part_curve(*stack(cells), candidates(asked), options.seed, method, watch)
            number = curve.best
        else:
            number, curve = asked, None
        books = codebooks(method.codebook_size(number))
        parts = books.cut(number, options.seed, method)
        if everything is not None:
            parts = _refined(parts, everything, pool, options.device)
        fitted = FittedOptions(**vars(options), parts=number)
        steadiness = books.steadiness(number, options.seed)
        models[asked] = PartModel(fitted, weights_sha256, parts, foreground, curve, steadiness)
    return models


def find_foreground(
    store: Descriptions, names: Sequence[str], options: SettledOptions
) -> ForegroundModel:
    """Learn what is object in a collection from all its images, or a sample.

    Raises
    ------
    InputError
        No image has more than one region.
    """
    choose = _chooser(len(names), options.seed)
    model = learn_foreground(store, names, choose, options.numbers)
    if model is None:
        raise InputError(
            f"every photo is a single region, so object and background cannot be told apart: "
            f"--min-region {options.min_region} is too large, or the photos are of one colour; "
            "--foreground none takes them as all object"
        )
    return model.cut_at(options.foreground_threshold)


def _refined(
    parts: PartClusters, everything: _Objects, pool: Pool | None, device: str
) -> PartClusters:
    """Move the centroids of a sample to where the means of all cells are."""
    for _ in range(PASSES):
        of = partial(_Objects.cluster_sums, parts=parts, device=device)
        parts = parts.refined(_total(of, everything, pool))
    return parts


@dataclass(frozen=True)
class _Objects:
    """The objects of a collection's images, read one at a time; images without any are left out."""

    store: Descriptions
    names: Sequence[str]
    foreground: ForegroundModel | None
    method: Method

    def cells(self) -> Iterator[ObjectCells]:
        """Yield the smoothed cells of each."""
        for description, inside in self._images():
            yield _object_cells(description, inside, self.method)

    def pieces(self) -> Iterator[_Objects]:
        """Divide the collection into pieces that can be sent to a worker."""
        for start in range(0, len(self.names), _PIECE):
            names = self.names[start : start + _PIECE]
            yield _Objects(self.store.part(names), names, self.foreground, self.method)

    def moments(self) -> Moments | None:
        """Return the sums that a projection is made of; None where there is no object."""
        return _sum(Moments.of(cells, self.method.centring) for cells in self.cells())

    def cluster_sums(self, parts: PartClusters, device: str) -> ClusterSums | None:
        """Return what one pass learns about the centroids of parts, or None."""
        points, centroids = self._points(parts.projection), parts.centroids.astype(np.float64)
        return _sum(ClusterSums.of(*each, centroids, device) for each in points)

    def _points(self, projection: Projection) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the points (C, P) of the smoothed cells of each, and their areas (C,)."""
        for description, inside in self._images():
            # Smoothing is linear, and takes a fraction of the time after projecting.
            reduced = projection.reduce(description.features)
            cells = _object_cells(replace(description, features=reduced), inside, self.method)
            yield projection.points(cells.features, cells.mean), cells.areas

    def _images(self) -> Iterator[tuple[ImageDescription, np.ndarray]]:
        for name in self.names:
            description = self.store.read(name, pixels=False)
            inside = foreground_cells(description, self.foreground, self.method)
            if inside.any():
                yield description, inside


def _total(of: Callable[[_Objects], Sums | None], objects: _Objects, pool: Pool | None) -> Sums:
    """Map the pieces of a collection, which has an object at least, to sums and add those up."""
    if pool is None:
        total = _sum(map(of, objects.pieces()))
    else:
        futures = in_order(pool, of, objects.pieces(), lambda: 2 * pool.workers)
        total = _sum(future.result() for _, future in futures)
    assert total is not None
    return total


def _sum(sums: Iterable[Sums | None]) -> Sums | None:
    total: Sums | None = None
    for each in sums:
        if each is not None:
            total = each if total is None else total + each
    return total


def _object_cells(description: ImageDescription, inside: np.ndarray, method: Method) -> ObjectCells:
    # Of the image, so that every image counts alike whatever its size.
    areas = description.areas / description.areas.sum()
    return ObjectCells.whole(smooth_cells(description, inside, method)[inside], areas[inside])


def _sample_cells(objects: _Objects, seed: int) -> list[ObjectCells]:
    choose = _chooser(len(objects.names), seed)
    return [cells.take(choose(len(cells.areas))) for cells in objects.cells()]


def _chooser(num_images: int, seed: int) -> Callable[[int], np.ndarray]:
    """Return what chooses which of an image's cells to learn from: its share of `MAX_CELLS`."""
    return partial(some_of, limit=MAX_CELLS // num_images, rng=np.random.default_rng(seed))
