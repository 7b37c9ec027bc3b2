"""What an image's own files are called: `labels/bird.png` and `overlays/bird.jpg` of `bird.jpg`."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from pathlib import PurePosixPath
from typing import Protocol, TypeVar

import numpy as np


class Named(Protocol):
    """What has the name of an image."""

    @property
    def name(self) -> str:
        """Unique in a run."""


A = TypeVar("A", bound=Named)
B = TypeVar("B", bound=Named)


class ImageNames(Collection[str]):
    """The names of images in their order, which are read anew whenever they are asked for.

    Parameters
    ----------
    images
        A collection that gives them again and again.
    kind
        Which of their names: `stem` is what the files of a recorded image are called.
    """

    def __init__(self, images: Collection[Named], kind: str = "name") -> None:
        self._images, self._kind = images, kind

    def __len__(self) -> int:
        return len(self._images)

    def __iter__(self) -> Iterator[str]:
        return map(attrgetter(self._kind), self._images)

    def __contains__(self, name: object) -> bool:
        return any(name == other for other in self)


class Stems(Mapping[str, str]):
    """What the files of images are called: all differ.

    Parameters
    ----------
    names
        Of the images.
    longer
        What those are called whose name without its suffix is not theirs alone.
    """

    def __init__(self, names: Collection[str], longer: Mapping[str, str]) -> None:
        self._names, self.longer = names, longer

    def __getitem__(self, name: str) -> str:
        return self.longer.get(name) or _short(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def with_same_names(items: Iterable[A], others: Sequence[B]) -> Iterator[tuple[A, B | None]]:
    """Yield items with those of their names among others; both are sorted by name."""
    items = iter(items)
    if (first := next(items, None)) is None:
        return
    rest = iter(others[bisect_left(others, first.name, key=attrgetter("name")) :])
    other = next(rest, None)
    for item in chain([first], items):
        while other is not None and other.name < item.name:
            other = next(rest, None)
        yield item, other if other is not None and other.name == item.name else None


def image_stems(names: Collection[str], taken: Collection[str] = ()) -> Stems:
    """Choose what the files of images are called, before the suffix of each kind.

    That is the image's name without its suffix; where two of a folder share that, on disks that
    ignore case, too, each keeps its whole name. It depends on the names alone, so that shards of
    one list choose alike.

    Memory is 9 bytes a name, and what those take that share theirs.

    Parameters
    ----------
    names
        Of all images of a run that have no such files yet; all differ. They are read several times.
    taken
        What the files of its other images are called: those stay as they are.

    Returns
    -------
    Stems
        By name; all differ, from those that are taken, too.

    Examples
    --------
    >>> dict(image_stems(["a/bird.jpg", "bird.jpg", "bird.png", "wren.png"]))
    {'a/bird.jpg': 'a/bird', 'bird.jpg': 'bird.jpg', 'bird.png': 'bird.png', 'wren.png': 'wren'}
    >>> dict(image_stems(["bird.png"], taken=["bird"]))
    {'bird.png': 'bird.png'}
    """
    shared = _shared(chain(map(_short, names), taken), len(names) + len(taken))
    longer: dict[str, str] = {}
    while shared:
        # None of the others ever has the stem of one of these.
        some = [name for name in names if _hash(_short(name)) in shared]
        longer, tried = _longer(some, [stem for stem in taken if _hash(stem) in shared])
        new = {_hash(stem) for stem in tried} - shared
        if not _any_of(new, chain(map(_short, names), taken)):
            break
        shared |= new
    return Stems(names, longer)


def _longer(names: Collection[str], taken: Collection[str]) -> tuple[dict[str, str], set[str]]:
    """Return the stems of names that are not the short ones, and all longer ones that were tried.

    The names hold all that may share a stem.
    """
    stems, tried = {name: _short(name) for name in names}, set()
    while clashing := _clashing(stems, taken):
        for name in clashing:
            # A whole name may be the stem of another, as of x.jpg and x.jpg.jpg: that one yields.
            longer = stems[name] + (PurePosixPath(name).suffix or "_")
            stems[name] = name if len(stems[name]) < len(name) else longer
            tried.add(stems[name])
    return {name: stem for name, stem in stems.items() if stem != _short(name)}, tried


def _clashing(stems: Mapping[str, str], taken: Collection[str]) -> list[str]:
    """Return the names whose stems are not theirs alone; those that yield, if any can."""
    counts = Counter(map(_on_disk, chain(stems.values(), taken)))
    shared = [name for name, stem in stems.items() if counts[_on_disk(stem)] > 1]
    short = [name for name in shared if len(stems[name]) < len(name)]
    held = {_on_disk(stem) for stem in taken}
    return short or [name for name in shared if _on_disk(stems[name]) in held]


def _shared(stems: Iterable[str], count: int) -> set[int]:
    """Return the hashes of what occurs more than once among so many."""
    hashes = np.fromiter(map(_hash, stems), np.int64, count)
    hashes.sort()
    return set(hashes[1:][hashes[1:] == hashes[:-1]].tolist())


def _any_of(hashes: set[int], stems: Iterable[str]) -> bool:
    return bool(hashes) and any(_hash(stem) in hashes for stem in stems)


def _hash(stem: str) -> int:
    """Hash what is the same on a disk to the same; what two of them share may still differ."""
    return hash(_on_disk(stem))


def _short(name: str) -> str:
    file = name.rpartition("/")[2]
    dot = file.rfind(".")
    return name[: dot - len(file)] if 0 < dot < len(file) - 1 else name


def _on_disk(stem: str) -> str:
    return unicodedata.normalize("NFC", stem).casefold()
