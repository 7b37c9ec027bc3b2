"""Which photos look odd beside the others: to look at first, not to throw away."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from partdino.runs.measures.photo import PhotoMeasures

_MOST = 0.8  # a part that so many of the photos with an object have is missed where it is absent
_FAR = 3.5  # robust standard deviations from the median (Iglewicz & Hoaglin, 1993)
_TO_SD = 1.4826  # from the median absolute deviation to the standard deviation of a normal one
_LEAST_SPREAD = 0.05  # of the logarithm: photos that are all alike make no 5% odd
_ENOUGH = 10  # photos, for a median to say what is usual


@dataclass(frozen=True)
class _Usual:
    """Median and robust standard deviation of a share's logarithm."""

    median: float
    spread: float

    @classmethod
    def of(cls, shares: np.ndarray) -> _Usual | None:
        if len(shares) < _ENOUGH:
            return None
        logarithms = np.log(shares)
        median = float(np.median(logarithms))
        spread = _TO_SD * float(np.median(np.abs(logarithms - median)))
        return cls(median, max(spread, _LEAST_SPREAD))

    def is_small(self, share: float) -> bool:
        """Tell whether a share, 0 among them, is far below the median."""
        return share <= 0 or math.log(share) < self.median - _FAR * self.spread

    def judge(self, share: float) -> str | None:
        """Return how a share is far from the median, or None."""
        difference = math.log(share) - self.median
        if abs(difference) <= _FAR * self.spread:
            return None
        return f"{'large' if difference > 0 else 'small'} ({math.exp(difference):.2g}x the median)"


class OddPhotos:
    """Collects the areas of all photos, and how sure their foregrounds are, to say what is odd.

    A part's area counts as its share of the object, and the object's as its share of the photo:
    distance and resolution do not make a part odd. Both are judged by their logarithm.

    Parameters
    ----------
    names
        Of the parts, by number.
    """

    def __init__(self, names: Mapping[int, str]) -> None:
        self._names = names
        self._objects = array("d")
        self._sure = array("d")
        self._parts: dict[int, array] = {}

    def add(self, photo: PhotoMeasures) -> None:
        """Take the areas of a photo."""
        if photo.parts:
            self._objects.append(photo.object_area / (photo.width * photo.height))
        if photo.foreground_confidence:
            self._sure.append(photo.foreground_confidence)
        for part in photo.parts:
            self._parts.setdefault(part.part, array("d")).append(part.share_of_object)

    def finish(self) -> None:
        """Settle what is usual, once all photos are there."""
        count = len(self._objects)
        least = _MOST * count if count >= _ENOUGH else math.inf
        self._common = [part for part, shares in sorted(self._parts.items()) if len(shares) > least]
        self._object = _Usual.of(np.array(self._objects))
        self._foreground = _Usual.of(np.array(self._sure))
        self._usual = {part: _Usual.of(np.array(shares)) for part, shares in self._parts.items()}

    def of(self, photo: PhotoMeasures) -> str:
        """Return what is odd about a photo, in words; empty where nothing is."""
        return "; ".join(self._reasons(photo))

    def _reasons(self, photo: PhotoMeasures) -> Iterator[str]:
        if photo.failure is not None:
            yield f"failed: {photo.failure}"
            return
        if photo.photo_replaced:
            yield "photo replaced"
        elif not photo.photo_found:
            yield "photo not found"
        if not photo.parts:
            yield "no object"
            return
        share = photo.object_area / (photo.width * photo.height)
        if self._object and (verdict := self._object.judge(share)):
            yield f"object {verdict}"
        sure = photo.foreground_confidence
        if self._foreground and sure is not None and self._foreground.is_small(sure):
            yield f"outline unsure ({sure:.2g})"
        present = {part.part for part in photo.parts}
        yield from (f"{self._names[part]} missing" for part in self._common if part not in present)
        for part in photo.parts:
            usual = self._usual[part.part]
            if usual and (verdict := usual.judge(part.share_of_object)):
                yield f"{self._names[part.part]} {verdict}"
