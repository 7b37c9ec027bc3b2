"""Choosing the number of parts without labels: the K that two halves of the images agree on most.

::

    images --> two halves --> parts of each half --> labels of all regions, twice --> agreement

Agreement alone favours few parts: two halves of any cloud of points are cut alike if it is longer
than it is wide. So the same is done with structureless data, and the K is chosen whose agreement
exceeds theirs most: the principle of Clest (Dudoit & Fridlyand, 2002), with the reference of the
gap statistic (Tibshirani, Walther & Hastie, 2001).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from partdino.clustering import fit_parts, object_mean
from partdino.errors import InputError
from partdino.metrics import ari_from_contingency

REPEATS = 3
# A sample suffices: k-means costs as much as it has regions, and K is a coarse thing.
MAX_REGIONS = 6_000
_MIN_IMAGES = 4  # two for each half
_MAX_DIM = 128  # twice what the clustering keeps
_AREA_UNITS = 1_000_000  # areas are counted in millionths of all


@dataclass(frozen=True, eq=False)
class PartCurve:
    """How well halves of the images agree on their parts, by the number of parts.

    Attributes
    ----------
    numbers
        int (C,), the numbers of parts that were tried, ascending.
    agreement
        float (C,), ARI of the labels from two halves of the images, by area, mean of the repeats.
    chance
        float (C,), the same for structureless data.
    spread
        float (C,), standard deviation of ``agreement - chance`` over the repeats.
    """

    numbers: np.ndarray
    agreement: np.ndarray
    chance: np.ndarray
    spread: np.ndarray

    @property
    def excess(self) -> np.ndarray:
        """float (C,), the agreement beyond that of structureless data."""
        return self.agreement - self.chance

    @property
    def best(self) -> int:
        """The number of parts with the most excess; of equals the smallest."""
        return int(self.numbers[self.excess.argmax()])


def part_curve(
    features: np.ndarray,
    areas: np.ndarray,
    images: np.ndarray,
    numbers: Sequence[int],
    seed: int = 0,
) -> PartCurve:
    """Try numbers of parts.

    For each, `fit_parts` is run on two random halves of the images, and both fits label the
    regions of all images. This is repeated with `REPEATS` halvings, which all numbers share.

    Parameters
    ----------
    features, areas, images
        As `fit_parts` takes them; of more than `MAX_REGIONS` regions a sample is taken.
    numbers
        Candidates for K, ascending.
    seed
        Seed of the sample, the halves, the structureless data and the clustering.

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
    for repeat in range(REPEATS):
        half = np.isin(images, rng.permutation(count)[: count // 2])
        structureless = rng.normal(scale=residuals.std(axis=0), size=residuals.shape)
        for kind, deviations in enumerate((residuals, structureless)):
            data = means[images] + deviations
            pairs[kind, repeat] = [
                _agreement(data, areas, images, half, number, seed) for number in numbers
            ]
    agreement, chance = pairs.mean(axis=1)
    spread = (pairs[0] - pairs[1]).std(axis=0, ddof=1)
    return PartCurve(np.array(numbers), agreement, chance, spread)


def _sample(
    features: np.ndarray, areas: np.ndarray, images: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a sample in the order of the images, which are numbered without gaps."""
    chosen = np.argsort(images, kind="stable")
    if len(chosen) > MAX_REGIONS:
        chosen = chosen[np.sort(rng.choice(len(chosen), MAX_REGIONS, replace=False))]
    _, images = np.unique(images[chosen], return_inverse=True)
    return features[chosen].astype(np.float64), areas[chosen], images


def _within_images(
    features: np.ndarray, areas: np.ndarray, images: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return image means (M, P) and each region's deviation (N, P) from that of its image.

    Both are given along the principal directions of the deviations, at most `_MAX_DIM`.
    """
    starts = np.flatnonzero(np.diff(images, prepend=-1))
    totals = np.add.reduceat(areas, starts)
    means = np.add.reduceat(features * areas[:, None], starts) / totals[:, None]
    deviations = features - means[images]
    _, axes = np.linalg.eigh(deviations.T @ deviations)
    axes = axes[:, ::-1][:, :_MAX_DIM]
    return means @ axes, deviations @ axes


def _agreement(
    features: np.ndarray,
    areas: np.ndarray,
    images: np.ndarray,
    half: np.ndarray,
    number: int,
    seed: int,
) -> float:
    """Return the ARI, by area, of the labels that both halves give to the regions of all images."""
    first, second = (
        _labels(features, areas, images, members, number, seed) for members in (half, ~half)
    )
    table = np.bincount(first * number + second, areas / areas.sum(), minlength=number**2)
    return ari_from_contingency(np.rint(_AREA_UNITS * table).astype(np.int64).reshape(number, -1))


def _labels(
    features: np.ndarray,
    areas: np.ndarray,
    images: np.ndarray,
    members: np.ndarray,
    number: int,
    seed: int,
) -> np.ndarray:
    """Fit the parts of some regions, and return the part, 0..K-1, of every region."""
    _, own_images = np.unique(images[members], return_inverse=True)
    parts = fit_parts(features[members], areas[members], own_images, number, seed)
    bounds = np.flatnonzero(np.diff(images, prepend=-1, append=images[-1] + 1))
    labels = [
        parts.similarities(features[rows], object_mean(features[rows], areas[rows])).argmax(axis=1)
        for rows in map(slice, bounds[:-1], bounds[1:])
    ]
    return np.concatenate(labels)
