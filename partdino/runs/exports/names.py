"""What the files of an export are called: no two images share one."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath

import numpy as np


def find_clash(names: Callable[[], Iterable[str]], file: Callable[[str], str]) -> list[str]:
    """Return two names whose files are one, on disks that ignore case, too; none: an empty list.

    Parameters
    ----------
    names
        Gives all names, whenever it is called: eight bytes are kept of each.
    file
        The file that a name leads to.

    Examples
    --------
    >>> find_clash(lambda: ["a.jpg", "b.jpg", "B.png"], lambda name: name[:1])
    ['b.jpg', 'B.png']
    """
    hashes = np.fromiter((_hash(file(name)) for name in names()), np.int64)
    hashes.sort()
    twice = set(hashes[1:][hashes[1:] == hashes[:-1]].tolist())
    first: dict[int, str] = {}
    for name in names() if twice else ():
        key = _hash(file(name))
        if key in first:
            return [first[key], name]
        if key in twice:
            first[key] = name
    return []


def _hash(file: str) -> int:
    text = unicodedata.normalize("NFC", file).casefold().encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big", signed=True)


def short_stem(name: str) -> str:
    """Return a name, with its folders, without the suffix.

    >>> short_stem("a.b/bird.2.jpg")
    'a.b/bird.2'
    """
    return str(PurePosixPath(name).with_suffix(""))
