"""The reviewed parts over all photos: how often, how large, how sure, and what to look at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partdino.runs.review.apply import ReviewedPart, reviewed_parts
from partdino.runs.review.finished import FinishedRun
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
    def of(cls, run: FinishedRun, review: Review) -> PartsOfPhotos:
        """Apply a review to a run's measures; raises `InputError` where they cannot be read."""
        parts = [each for each in reviewed_parts(review, run.num_parts) if not each.background]
        belongs = np.zeros((run.num_parts, len(parts)))
        for column, part in enumerate(parts):
            belongs[np.subtract(part.members, 1), column] = 1
        area = run.area @ belongs
        least = np.where(area > 0, area, 1)
        confidence, typicality = (
            ((values * run.area) @ belongs) / least for values in (run.confidence, run.typicality)
        )
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


def included(run: FinishedRun, review: Review) -> np.ndarray:
    """Return which photos are not excluded, bool (N,)."""
    return np.array([review.photos.get(image.name) != "excluded" for image in run.images])


def what_to_look_at(parts: PartsOfPhotos) -> list[tuple[int, list[str]]]:
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
    order = sorted(range(len(reasons)), key=lambda index: (-len(reasons[index]), sure[index]))
    return [(index, reasons[index]) for index in order if reasons[index]]


def _missing(there: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Photos (indices) with an object that lack a part that most have."""
    usual = found.any() and there[found].mean() >= _USUAL
    return np.flatnonzero(found & ~there) if usual else np.array([], int)


def _odd(share: np.ndarray) -> np.ndarray:
    """Indices of shares of the object far from the usual one, among those above 0."""
    there = np.flatnonzero(share > 0)
    if len(there) < _FEW:
        return np.array([], int)
    from_median = np.abs(share[there] - np.median(share[there]))
    spread = _SPREAD_OF_GAUSSIAN * np.median(from_median)
    return there[from_median > _ODD * spread] if spread > 0 else np.array([], int)
