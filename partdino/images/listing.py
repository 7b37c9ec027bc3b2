"""The list of the images that were found: on the disk, so that there may be millions of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from partdino.errors import InputError
from partdino.images.remote import RemoteFile
from partdino.long_lists import LongList
from partdino.scratch import Scratch


@dataclass(frozen=True, slots=True)
class ImageFile:
    """An image to process.

    Attributes
    ----------
    path
        Where to read it; a URL is text.
    name
        Its path relative to the input, posix separators, with extension: unique in the run and
        always encodable (bytes that are not UTF-8 are written as ``\\xff``).
    version
        Of what is behind a URL: see `RemoteFile`.
    """

    path: Path | str
    name: str
    version: str | None = None


class ImageList(LongList[ImageFile]):
    """Images sorted by their names.

    Parameters
    ----------
    scratch
        Has them in a table ``images``, numbered from 1.
    """

    def __init__(self, scratch: Scratch) -> None:
        ((count,),) = scratch.rows("SELECT count(*) FROM images")
        super().__init__(count)
        self._scratch = scratch

    def _read(self, places: range) -> list[ImageFile]:
        rows = self._scratch.rows(
            "SELECT name, place, version FROM images WHERE number > ? AND number <= ?",
            *(places.start, places.stop),
        )
        return [
            ImageFile(Path(os.fsdecode(p)) if v is None else os.fsdecode(p), name, v)
            for name, p, v in rows
        ]


class Found:
    """Images as they are found: each real file once."""

    def __init__(self) -> None:
        self._scratch = Scratch(
            "CREATE TABLE found (file BLOB PRIMARY KEY, place BLOB, is_link INTEGER, version TEXT) "
            "WITHOUT ROWID"
        )
        self._real_folder = lru_cache(maxsize=1024)(os.path.realpath)  # of many files

    def add(self, paths: Iterable[str]) -> None:
        """Add paths: of those of one file the first is kept, rather the file than a link to it."""
        self._scratch.change(
            "INSERT INTO found (file, is_link, place) VALUES (?, ?, ?) ON CONFLICT (file) "
            "DO UPDATE SET place = excluded.place, is_link = excluded.is_link "
            "WHERE excluded.is_link < is_link",
            ((*_file(path, self._real_folder), os.fsencode(path)) for path in paths),
        )

    def add_remote(self, files: Iterable[RemoteFile]) -> None:
        """Add what is behind URLs."""
        self._scratch.change(
            "REPLACE INTO found (file, is_link, place, version) VALUES (?, 0, ?, ?)",
            ((os.fsencode(f.url), os.fsencode(f.url), f.version) for f in files),
        )

    def named(self, name_of: Callable[[str], str]) -> ImageList:
        """Return the list; nothing is added any more.

        Parameters
        ----------
        name_of
            Returns the name of what is at a path or URL.

        Raises
        ------
        InputError
            Two have the same name.
        """
        scratch = self._scratch
        scratch.make(
            "CREATE TABLE images (number INTEGER PRIMARY KEY, name TEXT, place BLOB, version TEXT)"
        )
        scratch.make(
            "INSERT INTO images (name, place, version) "
            "SELECT name_of(place), place, version FROM found ORDER BY 1",
            name_of=lambda place: name_of(os.fsdecode(place)),
        )
        scratch.make("DROP TABLE found")
        twice = scratch.rows(
            "SELECT one.name FROM images one JOIN images two "
            "ON two.number = one.number + 1 AND two.name = one.name LIMIT 1"
        )
        for (name,) in twice:
            raise InputError(f"{name} is the name of two photos once printed; rename one")
        return ImageList(scratch)


def _file(path: str, real_folder: Callable[[str], str]) -> tuple[bytes, bool]:
    """Return which file a path leads to, and whether it is a link."""
    folder, name = os.path.split(path)
    is_link = os.path.islink(path)
    if is_link or name in ("", os.curdir, os.pardir):
        return os.fsencode(os.path.realpath(path)), is_link
    return os.fsencode(os.path.join(real_folder(folder), name)), False
