"""What an image's own files are called: `labels/bird.png` and `overlays/bird.jpg` of `bird.jpg`."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import PurePosixPath


def image_stems(names: Sequence[str], taken: Collection[str] = ()) -> dict[str, str]:
    """Choose what the files of images are called, before the suffix of each kind.

    That is the image's name without its suffix; where two of a folder share that, on disks that
    ignore case, too, each keeps its whole name. It depends on the names alone, so that shards of
    one list choose alike.

    Parameters
    ----------
    names
        Of all images of a run that have no such files yet; all differ.
    taken
        What the files of its other images are called: those stay as they are.

    Returns
    -------
    dict of str to str
        By name; all differ, from those that are taken, too.

    Examples
    --------
    >>> image_stems(["a/bird.jpg", "bird.jpg", "bird.png", "wren.png"])
    {'a/bird.jpg': 'a/bird', 'bird.jpg': 'bird.jpg', 'bird.png': 'bird.png', 'wren.png': 'wren'}
    >>> image_stems(["bird.png"], taken=["bird"])
    {'bird.png': 'bird.png'}
    """
    stems = {name: str(PurePosixPath(name).with_suffix("")) for name in names}
    while clashing := _clashing(stems, taken):
        for name in clashing:
            # A whole name may be the stem of another, as of x.jpg and x.jpg.jpg: that one yields.
            longer = stems[name] + (PurePosixPath(name).suffix or "_")
            stems[name] = name if len(stems[name]) < len(name) else longer
    return stems


def _clashing(stems: Mapping[str, str], taken: Iterable[str]) -> list[str]:
    """Return the names whose stems are not theirs alone; those that yield, if any can."""
    counts = Counter(map(_on_disk, chain(stems.values(), taken)))
    shared = [name for name, stem in stems.items() if counts[_on_disk(stem)] > 1]
    short = [name for name in shared if len(stems[name]) < len(name)]
    held = {_on_disk(stem) for stem in taken}
    return short or [name for name in shared if _on_disk(stems[name]) in held]


def _on_disk(stem: str) -> str:
    return unicodedata.normalize("NFC", stem).casefold()
