"""What has changed since a run was finished: its results beside the photos of today."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any

import numpy as np

from partdino.describe.photos import Photo
from partdino.long_lists import LongList, Picked
from partdino.runs.image_names import ImageNames, image_stems
from partdino.runs.result_log import Recorded
from partdino.runs.store import StoredImage

Image = Photo | StoredImage

# What has become of an image.
_SAME, _ADDED, _CHANGED, _FAILED, _REMOVED, _REMOVED_FAILED = range(6)
_KINDS = {"added": _ADDED, "changed": _CHANGED, "failed": _FAILED}


@dataclass(frozen=True)
class Changes:
    """The images of a finished run, by what has become of them; 9 bytes an image.

    Attributes
    ----------
    recorded, images : sequence
        What the run has recorded, and the images of today, both sorted by name.
    was, now : (N,) int32 array
        The place in either of each image of both, sorted by name; -1 where it is in one alone.
    kinds : (N,) uint8 array
        What has become of it.
    moved
        Whether a photo lies elsewhere now, itself unchanged.
    unknown
        Whether a version was not recorded (lists of Part-DINO 0.1).
    drop_removed
        Whether images that are not there any more are taken out.
    """

    recorded: Sequence[Recorded]
    images: Sequence[Image]
    was: np.ndarray
    now: np.ndarray
    kinds: np.ndarray
    moved: bool
    unknown: bool
    drop_removed: bool

    @classmethod
    def between(
        cls, recorded: Sequence[Recorded], images: Sequence[Image], drop_removed: bool = False
    ) -> Changes:
        """Compare what a run has recorded with the images of today."""
        was, now, kinds = array("i"), array("i"), bytearray()
        moved = unknown = False
        last, next_one = 0, 0
        for result, image in _beside(recorded, images):
            was.append(-1 if result is None else last)
            now.append(-1 if image is None else next_one)
            kinds.append(_kind(result, image))
            last += result is not None
            next_one += image is not None
            if result is not None and image is not None:
                moved |= result.photo != str(_place(image))
                unknown |= result.failure is None and result.key is None
        return cls(
            recorded,
            images,
            np.frombuffer(was, np.int32),
            np.frombuffer(now, np.int32),
            np.frombuffer(kinds, np.uint8),
            moved,
            unknown,
            drop_removed,
        )

    @property
    def stale(self) -> Sequence[Any]:
        """The images that have to be labelled, in their order."""
        return self._of(_ADDED, _CHANGED, _FAILED)

    @property
    def removed(self) -> Sequence[Recorded]:
        """What is recorded of images that are not there any more."""
        removed = np.isin(self.kinds, (_REMOVED, _REMOVED_FAILED))
        return Picked(self.recorded, self.was[removed])

    @property
    def lost(self) -> Sequence[Recorded]:
        """Those of `removed` that have a result."""
        return Picked(self.recorded, self.was[self.kinds == _REMOVED])

    @property
    def counts(self) -> dict[str, int]:
        """How many images are of each kind."""
        counts = {name: int((self.kinds == kind).sum()) for name, kind in _KINDS.items()}
        return {**counts, "removed": len(self.removed)}

    @property
    def drops(self) -> bool:
        """Whether anything that is recorded is to go."""
        return bool(len(self.removed) > (0 if self.drop_removed else len(self.lost)))

    @cached_property
    def results(self) -> Sequence[Recorded]:
        """The images that the run is to have, in their order.

        Each is as it was recorded but with the place and the version of today. Files keep their
        names; new ones take none of theirs, but those of images that are taken out.
        """
        kept = self.now >= 0
        if not self.drop_removed:
            kept |= self.kinds == _REMOVED
        return _Results(self, np.flatnonzero(kept), self._new_files)

    @cached_property
    def _new_files(self) -> Mapping[str, str]:
        added = self._of(_ADDED)
        stays = self.was >= 0 if not self.drop_removed else (self.was >= 0) & (self.now >= 0)
        taken = ImageNames(Picked(self.recorded, self.was[stays]), "stem") if added else ()
        return image_stems(ImageNames(added), taken)

    def _of(self, *kinds: int) -> Sequence[Any]:
        return Picked(self.images, self.now[np.isin(self.kinds, kinds)])


class _Results(LongList[Recorded]):
    def __init__(self, changes: Changes, kept: np.ndarray, files: Mapping[str, str]) -> None:
        super().__init__(len(kept))
        self._files = files
        self._was = _Some(changes.recorded, changes.was[kept])
        self._now = _Some(changes.images, changes.now[kept])

    def _read(self, places: range) -> list[Recorded]:
        pairs = zip(self._was.read(places), self._now.read(places), strict=True)
        return [_today(result, image, self._files) for result, image in pairs]


class _Some:
    """Items of a sequence by their places, None for a place of -1."""

    def __init__(self, items: Sequence[Any], places: np.ndarray) -> None:
        self._items, self._places = items, places

    def read(self, span: range) -> Iterator[Any]:
        """Yield some of them."""
        places = self._places[span.start : span.stop]
        there = iter(Picked(self._items, places[places >= 0]))
        return (next(there) if place >= 0 else None for place in places.tolist())


def are_as_recorded(recorded: Iterable[Recorded], images: Iterable[Image]) -> bool:
    """Tell whether nothing has changed since a run; both are in their order, and read once."""
    return all(
        result is not None
        and image is not None
        and (result.name, result.photo) == (image.name, str(_place(image)))
        and (result.key == image.key if result.failure is None else _has_failed(image))
        for result, image in zip_longest(recorded, images)
    )


def _beside(
    recorded: Iterable[Recorded], images: Iterable[Image]
) -> Iterator[tuple[Recorded | None, Image | None]]:
    """Yield what is of one name together; both are sorted by name."""
    results, others = iter(recorded), iter(images)
    result, image = next(results, None), next(others, None)
    while result is not None or image is not None:
        if image is None or (result is not None and result.name < image.name):
            yield result, None
            result = next(results, None)
        elif result is None or image.name < result.name:
            yield None, image
            image = next(others, None)
        else:
            yield result, image
            result, image = next(results, None), next(others, None)


def _kind(result: Recorded | None, image: Image | None) -> int:
    if result is None:
        return _ADDED
    if image is None:
        return _REMOVED if result.failure is None else _REMOVED_FAILED
    if result.failure is not None:
        # It may not fail any more: what was wrong may have been cured.
        return _SAME if _has_failed(image) else _FAILED
    return _SAME if result.key in (None, image.key) else _CHANGED


def _has_failed(image: Image) -> bool:
    return getattr(image, "failure", None) is not None


def _today(result: Recorded | None, image: Image | None, files: Mapping[str, str]) -> Recorded:
    if image is None:
        assert result is not None  # it is of one of them
        return result
    photo, key = str(_place(image)), image.key
    if result is None:
        return Recorded(image.name, photo, key, file=files[image.name])
    return replace(result, photo=photo, key=result.key and key)


def _place(image: Image) -> Any:
    return image.path if isinstance(image, Photo) else image.photo
