"""The reviewed parts over all photos: how often, how large, how sure, and what to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from partdino.runs.review.apply import ReviewedPart, reviewed_parts
from partdino.runs.review.finished import IndexedRun
from partdino.runs.review.state import Review

EXAMPLES = 8  # of a part, the most typical ones and as many of the least

_USUAL = 0.8  # a part in so many of the photos is missing in the others
_LEAST_SURE = 0.1  # of the photos
_FEW = 8  # photos from which on a size can be odd
_ODD = 4.0  # spreads from the median, each 1.48 times the median deviation: one sd of a Gaussian
_SPREAD_OF_GAUSSIAN = 1.4826


@dataclass(frozen=True)
class PartsOfPhotos:
    """The reviewed parts that are no background, over all photos.

    Attributes
    ----------
    parts
        G of them.
    area
        float64 (N, G): share of the photo's pixels; 0 where a part is absent.
    confidence, typicality
        float64 (N, G) in 0 to 1: means over the area of the members; 0 where a part is absent.
    """

    parts: list[ReviewedPart]
    area: np.ndarray
    confidence: np.ndarray
    typicality: np.ndarray

    @classmethod
    def of(cls, run: IndexedRun, review: Review) -> PartsOfPhotos:
        """Apply a review to a run's measures; raises `InputError` where they cannot be read."""
        parts = [each for each in reviewed_parts(review, run.num_parts) if not each.background]
        belongs = np.zeros((run.divided(review).largest, len(parts)))
        for column, part in enumerate(parts):
            belongs[np.subtract(part.members, 1), column] = 1
        divided, *means = _divided(run, review)
        area = divided @ belongs
        least = np.where(area > 0, area, 1)
        confidence, typicality = (((values * divided) @ belongs) / least for values in means)
        return cls(parts, area, confidence, typicality)

    def examples(self, column: int, photos: np.ndarray) -> tuple[list[int], list[int]]:
        """Return the photos with the most typical examples of a part, and with the least.

        Parameters
        ----------
        column
            Which part.
        photos
            bool (N,): which to choose from.

        Returns
        -------
        typical, odd : list of int
            The best first, and the worst first; none is in both.
        """
        there = np.flatnonzero(photos & (self.area[:, column] > 0))
        order = there[np.argsort(-self.typicality[there, column], kind="stable")]
        typical, rest = order[:EXAMPLES], order[EXAMPLES:]
        return typical.tolist(), rest[::-1][:EXAMPLES].tolist()


def _divided(run: IndexedRun, review: Review) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return area, confidence and typicality, float64 (N, L), of parts split and photos mended."""
    division = run.divided(review)
    wider = ((0, 0), (0, division.largest - run.num_parts))
    means = (run.confidence, run.typicality)
    area, confidence, typicality = (np.pad(values, wider) for values in (run.area, *means))
    if review.splits:
        area, confidence, typicality = _split(run, review, division.largest)
    for name, mend in review.mended.items():
        index = run.names[name]
        shares = run.shares_of(review, name, mend)
        areas = np.append(max(0, 1 - run.area[index].sum()), run.area[index])
        new = shares.apply(areas, run.confidence[index], run.typicality[index])
        area[index], confidence[index], typicality[index] = new
    return area, confidence, typicality


def _split(run: IndexedRun, review: Review, size: int) -> tuple[np.ndarray, ...]:
    """As `_divided`, of all photos at once, without what was mended."""
    before = run.clusters.parts
    after = review.part_of_clusters(run.clusters.parts)
    pixels = run.cluster_pixels
    of_part = np.zeros((run.num_parts + 1, len(before)))
    of_part[before, np.arange(len(before))] = 1
    totals = np.maximum(pixels @ of_part.T, 1)[:, before]
    old = (np.pad(v, ((0, 0), (1, 0))) for v in (run.area, run.confidence, run.typicality))
    old_area, *old_means = old  # with the background, which has none
    areas = old_area[:, before] * pixels / totals  # of each cluster
    belongs = np.zeros((len(after), size + 1))
    belongs[np.arange(len(after)), after] = 1
    area = areas @ belongs
    least = np.where(area > 0, area, 1)
    means = (((areas * values[:, before]) @ belongs) / least for values in old_means)
    return tuple(values[:, 1:] for values in (area, *means))


def included(run: IndexedRun, review: Review) -> np.ndarray:
    """Return which photos are not excluded, bool (N,)."""
    return np.array([review.photos.get(image.name) != "excluded" for image in run.images])


def what_to_look_at(run: IndexedRun, parts: PartsOfPhotos) -> list[tuple[int, list[str]]]:
    """Return the photos that may have gone wrong, and why, the most doubtful first.

    Those with more reasons come first; among equal ones those that are less sure.
    """
    reasons: list[list[str]] = [[] for _ in range(len(parts.area))]
    object_area = parts.area.sum(axis=1)
    found = object_area > 0
    for index in np.flatnonzero(~found):
        reasons[index].append("no object was found")
    for part, area in zip(parts.parts, parts.area.T, strict=True):
        for index in _missing(area > 0, found):
            reasons[index].append(f"{part.name} is missing")
        for index in _odd(area[found] / object_area[found]):
            reasons[np.flatnonzero(found)[index]].append(f"{part.name} has an odd size")
    sure = (parts.confidence * parts.area).sum(axis=1) / np.where(found, object_area, 1)
    doubtful = np.flatnonzero(found)[np.argsort(sure[found], kind="stable")]
    for index in doubtful[: int(len(doubtful) * _LEAST_SURE)]:
        reasons[index].append("among the least sure")
    for photo, pieces in _in_pieces([image.object_pieces for image in run.images]):
        reasons[photo].append(f"its object is in {pieces} pieces")
    for photo in _unsure([image.foreground_confidence for image in run.images]):
        reasons[photo].append("its outline is unsure")
    order = sorted(range(len(reasons)), key=lambda index: (-len(reasons[index]), sure[index]))
    return [(index, reasons[index]) for index in order if reasons[index]]


def _missing(there: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Photos (indices) with an object that lack a part that most have."""
    usual = found.any() and there[found].mean() >= _USUAL
    return np.flatnonzero(found & ~there) if usual else np.array([], int)


def _in_pieces(pieces: Sequence[int | None]) -> list[tuple[int, int]]:
    """Photos (indices) whose object is in more pieces than it is in most, and in how many."""
    known = [count for count in pieces if count]
    usual = np.quantile(known, _USUAL, method="lower") if known else 0
    return [(index, count) for index, count in enumerate(pieces) if count and count > usual]


def _unsure(sure: Sequence[float | None]) -> list[int]:
    """Photos (indices) whose outline is far less sure than the usual one."""
    doubt = np.array([0.0 if each is None else 1 - each for each in sure])
    return [index for index in _odd(doubt) if doubt[index] > np.median(doubt[doubt > 0])]


def _odd(share: np.ndarray) -> np.ndarray:
    """Indices of shares of the object far from the usual one, among those above 0."""
    there = np.flatnonzero(share > 0)
    if len(there) < _FEW:
        return np.array([], int)
    from_median = np.abs(share[there] - np.median(share[there]))
    spread = _SPREAD_OF_GAUSSIAN * np.median(from_median)
    return there[from_median > _ODD * spread] if spread > 0 else np.array([], int)
