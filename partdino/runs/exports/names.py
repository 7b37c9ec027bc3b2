"""Whether the files of an export have names of their own."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Iterable

import numpy as np

from partdino.errors import InputError


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


def refuse_clash(names: Callable[[], Iterable[str]], file: Callable[[str], str]) -> None:
    """Raise `InputError` where two names lead to one file; parameters as of `find_clash`."""
    if clash := find_clash(names, file):
        raise InputError(
            f"{clash[0]} and {clash[1]} would both be {file(clash[0])}; rename one of the photos, "
            "segment again, and export that"
        )


def _hash(file: str) -> int:
    text = unicodedata.normalize("NFC", file).casefold().encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big", signed=True)
