"""Choosing the number of parts without labels: the K that two halves of the images agree on most.

::

    images --> two halves --> parts of each half --> labels of all cells, twice --> agreement

Agreement alone favours few parts: two halves of any cloud of points are cut alike if it is longer
than it is wide. So the same is done with structureless data, a Gaussian cloud of the same spread,
whose agreement is what chance gives; as in Clest (Dudoit & Fridlyand, 2002).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from partdino.errors import InputError
from partdino.method import DEFAULT_METHOD, Method
from partdino.metrics import ari_from_contingency
from partdino.parts.codebook import fit_codebooks
from partdino.parts.projection import by_image, fit_projection, object_mean
from partdino.parts.sampling import some_of

REPEATS = 5
# A sample suffices: k-means costs as much as it has cells, and K is a coarse thing. Of each image
# it takes enough cells to know its object's mean.
MAX_CELLS = 6_000
MAX_IMAGES = 200
_MIN_IMAGES = 4  # two for each half
_MAX_DIM = 128  # twice what the clustering keeps
_CODEBOOKS = 8  # of each fit: the mean of ten halves is steady enough
_AREA_UNITS = 1_000_000  # areas are counted in millionths of all
# Called with a title and a total: yields a function to call once per finished step.
Watch: TypeAlias = Callable[[str, int], AbstractContextManager[Callable[..., None]]]


@contextmanager
def unwatched(title: str, total: int) -> Iterator[Callable[..., None]]:
    """Show nothing."""
    yield lambda: None


@dataclass(frozen=True, eq=False)
class PartCurve:
    """How well halves of the images agree on their parts, by the number of parts.

    Attributes
    ----------
    numbers
        int (C,), the numbers of parts that were tried, ascending.
    agreement
        float (C,), ARI of the labels from two halves of the images, by area, mean of the repeats.
    spread
        float (C,), its standard deviation over the repeats.
    chance
        float (C,), the agreement on structureless data.
    """

    numbers: np.ndarray
    agreement: np.ndarray
    spread: np.ndarray
    chance: np.ndarray

    @property
    def score(self) -> np.ndarray:
        """float (C,), the agreement beyond chance: 1 is perfect, 0 that of structureless data."""
        return _beyond_chance(self.agreement, self.chance)

    @property
    def span(self) -> str:
        """The range that was tried, such as "4-16"."""
        return f"{self.numbers[0]}-{self.numbers[-1]}"

    @property
    def best(self) -> int:
        """The number of parts with the highest score; of equals the largest, which says most."""
        return int(self.numbers[::-1][self.score[::-1].argmax()])

    @property
    def doubts(self) -> list[str]:
        """What speaks against `best`, if anything."""
        at = list(self.numbers).index(self.best)
        least = _beyond_chance(self.agreement[at] - self.spread[at], self.chance[at])
        if least <= 0:
            return [f"no number of parts in {self.span} is clearly better than chance"]
        others = [str(n) for n in self.numbers[self.score >= least] if n != self.best]
        doubts = []
        if others:
            doubts.append(
                f"{', '.join(others)} parts are as good as {self.best}, within the spread"
            )
        if len(self.numbers) > 1 and at in (0, len(self.numbers) - 1):
            doubts.append(
                f"{self.best} is an end of {self.span}: a wider range may hold a better one"
            )
        return doubts


def _beyond_chance(agreement: np.ndarray, chance: np.ndarray) -> np.ndarray:
    return (agreement - chance) / np.maximum(1 - chance, 1e-9)


def part_curve(
    features: np.ndarray,
    areas: np.ndarray,
    images: np.ndarray,
    numbers: Sequence[int],
    seed: int = 0,
    method: Method = DEFAULT_METHOD,
    watch: Watch = unwatched,
) -> PartCurve:
    """Try numbers of parts.

    For each, the parts are fitted on two random halves of the images, and both fits label the
    cells of all images. This is repeated with `REPEATS` halvings, which all numbers share.

    Parameters
    ----------
    features, areas, images
        float (N, D), float (N,) and int (N,): the object's cells of all images, see
        `partdino.parts.projection.stack`. Of more than `MAX_IMAGES` images or `MAX_CELLS` cells a
        sample is taken, the same number from each image that has so many.
    numbers
        Candidates for K, ascending.
    seed
        Seed of the sample, the halves, the structureless data and the clustering.
    method
        Of the fits.
    watch
        Shows how far it is: it takes a minute where the numbers are many.

    Raises
    ------
    InputError
        There are fewer than four images to halve.
    """
    rng = np.random.default_rng(seed)
    features, areas, images = _sample(features, areas, images, rng)
    count = int(images[-1]) + 1
    if count < _MIN_IMAGES:
        raise InputError(
            f"to choose the number of parts takes {_MIN_IMAGES} images with an object, and there "
            f"are {count}: name the number, as in --parts 8"
        )
    means, residuals = _within_images(features, areas, images)
    pairs = np.empty((2, REPEATS, len(numbers)))
    with watch("halves", 2 * REPEATS) as advance:
        for repeat in range(REPEATS):
            half = np.isin(images, rng.permutation(count)[: count // 2])
            structureless = rng.normal(scale=residuals.std(axis=0), size=residuals.shape)
            for kind, deviations in enumerate((residuals, structureless)):
                data = means[images] + deviations
                pairs[kind, repeat] = _agreements(data, areas, images, half, numbers, seed, method)
                advance()
    agreement, chance = pairs.mean(axis=1)
    return PartCurve(np.array(numbers), agreement, pairs[0].std(axis=0, ddof=1), chance)


def _sample(
    features: np.ndarray, areas: np.ndarray, images: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a sample in the order of the images, which are numbered without gaps."""
    order = np.argsort(images, kind="stable")
    rows_of_images = np.split(order, np.flatnonzero(np.diff(images[order])) + 1)
    if len(rows_of_images) > MAX_IMAGES:
        some = some_of(len(rows_of_images), MAX_IMAGES, rng)
        rows_of_images = [rows_of_images[index] for index in some]
    quota = MAX_CELLS // len(rows_of_images)
    chosen = [rows[some_of(len(rows), quota, rng)] for rows in rows_of_images]
    numbers = np.repeat(np.arange(len(chosen)), [len(rows) for rows in chosen])
    rows = np.concatenate(chosen)
    return features[rows].astype(np.float64), areas[rows], numbers


def _within_images(
    features: np.ndarray, areas: np.ndarray, images: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return image means (M, P) and each cell's deviation (N, P) from that of its image.

    Both are given along the principal directions of the deviations, at most `_MAX_DIM`.
    """
    starts = np.flatnonzero(np.diff(images, prepend=-1))
    totals = np.add.reduceat(areas, starts)
    means = np.add.reduceat(features * areas[:, None], starts) / totals[:, None]
    deviations = features - means[images]
    _, axes = np.linalg.eigh(deviations.T @ deviations)
    axes = axes[:, ::-1][:, :_MAX_DIM]
    return means @ axes, deviations @ axes


def _agreements(
    features: np.ndarray,
    areas: np.ndarray,
    images: np.ndarray,
    half: np.ndarray,
    numbers: Sequence[int],
    seed: int,
    method: Method,
) -> list[float]:
    """Return the ARI, by area, of the labels that both halves give to the cells of all images."""
    both = [_labels(features, areas, images, own, numbers, seed, method) for own in (half, ~half)]
    tables = (
        np.bincount(first * number + second, areas / areas.sum(), minlength=number**2)
        for number, first, second in zip(numbers, *both, strict=True)
    )
    # The agreement of counts: areas are counted in millionths.
    return [
        ari_from_contingency(np.rint(_AREA_UNITS * table).astype(np.int64).reshape(number, -1))
        for number, table in zip(numbers, tables, strict=True)
    ]


def _labels(
    features: np.ndarray,
    areas: np.ndarray,
    images: np.ndarray,
    members: np.ndarray,
    numbers: Sequence[int],
    seed: int,
    method: Method,
) -> list[np.ndarray]:
    """Fit some of the cells; return the part, 0..K-1, of every cell for each number of parts."""
    half = by_image(features[members], areas[members], images[members])
    projection = fit_projection(half, method)
    size = method.codebook_size(max(numbers))
    few = replace(method, codebooks=min(method.codebooks, _CODEBOOKS))
    codebooks = fit_codebooks(half, projection, size, seed, method=few)
    bounds = np.flatnonzero(np.diff(images, prepend=-1, append=images[-1] + 1))
    rows_of_images = [slice(*ends) for ends in pairwise(bounds)]
    means = [object_mean(features[rows], areas[rows]) for rows in rows_of_images]
    return [
        np.concatenate(
            [
                parts.similarities(features[rows], mean).argmax(axis=1)
                for rows, mean in zip(rows_of_images, means, strict=True)
            ]
        )
        for parts in (codebooks.cut(number, seed, method) for number in numbers)
    ]
