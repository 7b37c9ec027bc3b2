"""Comparing two groups of patches, where patches of one image are not independent.

All intervals are 95% percentile bootstrap intervals that resample images, not patches. Of few
images (`FEW`) they are too narrow; of one there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

RESAMPLES = 1000
FEW = 20
# Of more distinct values than this, those in the same of so many equal-sized bins count as ties.
_BINS = 1000


def summarise_group(values: np.ndarray) -> dict[str, Any]:
    """Return n, mean, quartiles and median of (N,) values; None for what is undefined."""
    if len(values) == 0:
        return {"n": 0, "mean": None, "q25": None, "median": None, "q75": None}
    q25, median, q75 = (float(q) for q in np.percentile(values, (25, 50, 75)))
    mean = float(values.mean())
    return {"n": len(values), "mean": mean, "q25": q25, "median": median, "q75": q75}


@dataclass(frozen=True)
class Effect:
    """An effect with its interval; NaN where it is undefined: see `compare_groups`."""

    value: float
    low: float
    high: float


def compare_groups(
    values: np.ndarray, straddles: np.ndarray, images: np.ndarray, seed: int = 0
) -> dict[str, Effect]:
    """Compare the patches that straddle a boundary with those that don't.

    Parameters
    ----------
    values
        float (N,).
    straddles
        bool (N,).
    images
        int (N,), the number of each patch's image.
    seed
        Of the bootstrap.

    Returns
    -------
    dict of str to Effect
        All positive where straddling patches have larger values. ``cliffs_delta`` (Cliff, 1993):
        the probability that a straddling patch has the larger value less that it has the smaller
        one, -1 to 1. ``hedges_g`` (Hedges, 1981): the difference of the means in pooled standard
        deviations. ``within_image``: the difference of the means inside an image, averaged over
        the images that have both kinds. NaN where a group is empty or does not vary; intervals
        also where there is only one image.
    """
    if not straddles.any() or straddles.all():
        return dict.fromkeys(_STATISTICS, Effect(np.nan, np.nan, np.nan))
    present, images = np.unique(images, return_inverse=True)
    number = len(present)
    resamples = RESAMPLES if number > 1 else 0
    rng = np.random.default_rng(seed)
    draws = rng.multinomial(number, np.full(number, 1 / number), resamples)
    once = np.ones((1, number), int)
    ours, others = (_ImageSums.of(values, side, images) for side in (straddles, ~straddles))
    return {
        name: _effect(float(statistic(ours, others, once)[0]), statistic(ours, others, draws))
        for name, statistic in _STATISTICS.items()
    }


def _effect(value: float, resampled: np.ndarray) -> Effect:
    defined = resampled[np.isfinite(resampled)]  # a resample may lack one of the groups
    if len(defined) == 0:
        return Effect(value, np.nan, np.nan)
    low, high = np.percentile(defined, (2.5, 97.5))
    return Effect(value, float(low), float(high))


@dataclass(frozen=True, eq=False)
class _ImageSums:
    """What the statistics need to know of one group's values in each of M images.

    How often each image was drawn, (B, M), times these gives them for B resamples.
    """

    number: np.ndarray  # (M,)
    total: np.ndarray  # (M,)
    squares: np.ndarray  # (M,)
    bins: csr_matrix  # (M, bins), how many values lie in each bin of both groups' values

    @classmethod
    def of(cls, values: np.ndarray, side: np.ndarray, images: np.ndarray) -> _ImageSums:
        edges = np.unique(values)
        if len(edges) > _BINS:
            edges = np.unique(np.quantile(values, np.linspace(0, 1, _BINS)))
        size = (int(images.max()) + 1, len(edges))
        values, images = values[side], images[side]
        entries = (np.ones(len(values)), (images, np.searchsorted(edges, values)))
        number, total, squares = (
            np.bincount(images, each, size[0]) for each in (None, values, values**2)
        )
        return cls(number, total, squares, csr_matrix(entries, shape=size))


def _cliffs_delta(ours: _ImageSums, others: _ImageSums, draws: np.ndarray) -> np.ndarray:
    """Return (B,) for (B, M) draws."""
    first, second = draws @ ours.bins, draws @ others.bins
    up_to = np.cumsum(second, axis=1)
    total = up_to[:, -1:]
    wins_less_losses = (first * (2 * up_to - second - total)).sum(axis=1)
    return _divide(wins_less_losses, first.sum(axis=1) * total[:, 0])


def _hedges_g(ours: _ImageSums, others: _ImageSums, draws: np.ndarray) -> np.ndarray:
    """Return (B,) for (B, M) draws."""
    number, mean, scatter = _moments(ours, draws)
    other_number, other_mean, other_scatter = _moments(others, draws)
    freedom = number + other_number - 2
    spread = np.sqrt(_divide(scatter + other_scatter, freedom))
    correction = 1 - _divide(3.0, 4 * freedom - 1)  # small samples overestimate
    return correction * _divide(mean - other_mean, spread)


def _moments(group: _ImageSums, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the number of values, their mean and their squared deviations from it, each (B,)."""
    number, total, squares = draws @ group.number, draws @ group.total, draws @ group.squares
    mean = _divide(total, number)
    return number, mean, np.maximum(squares - number * mean**2, 0)


def _within_image(ours: _ImageSums, others: _ImageSums, draws: np.ndarray) -> np.ndarray:
    """Return (B,) for (B, M) draws."""
    both = (ours.number > 0) & (others.number > 0)
    difference = _divide(ours.total, ours.number) - _divide(others.total, others.number)
    return _divide(draws @ np.where(both, difference, 0), draws @ both)


def _divide(numerator: np.ndarray | float, denominator: np.ndarray) -> np.ndarray:
    """Divide; NaN where the denominator is not above 0."""
    return np.divide(
        numerator, denominator, out=np.full(denominator.shape, np.nan), where=denominator > 0
    )


_STATISTICS = {
    "cliffs_delta": _cliffs_delta,
    "hedges_g": _hedges_g,
    "within_image": _within_image,
}
