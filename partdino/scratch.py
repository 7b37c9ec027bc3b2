"""A database for what is too long for the memory and gone with the process."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from partdino.errors import OutputError

_CACHE = 16_000  # KiB of it that are in memory


class Scratch:
    """A database that SQLite keeps in memory while it is small, and else in a temporary file.

    It may be used by several threads.

    Parameters
    ----------
    tables
        The statement that makes its tables.
    """

    def __init__(self, tables: str) -> None:
        self._database = sqlite3.connect("", check_same_thread=False)
        # Nobody goes on with it after a crash.
        self._database.executescript(
            f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -{_CACHE};"
        )
        self._database.execute(tables)

    @classmethod
    def opened(cls, path: Path) -> Scratch:
        """Return one that was saved, to be read alone; raises `sqlite3.DatabaseError`."""
        scratch = cls.__new__(cls)
        # Nobody changes it: no lock is needed, which not all network disks have.
        address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        scratch._database = sqlite3.connect(address, uri=True, check_same_thread=False)
        scratch._database.execute("SELECT * FROM sqlite_master")
        return scratch

    def save(self, path: Path) -> None:
        """Write a copy to a file that is empty; raises `OutputError`."""
        self._database.commit()
        with _full_disks():
            self._database.execute("VACUUM INTO ?", (str(path),))

    def change(self, statement: str, rows: Iterable[tuple[Any, ...]] = ((),)) -> None:
        """Carry out a statement for each row of values; raises `OutputError`."""
        with _full_disks():
            self._database.executemany(statement, rows)

    def rows(self, question: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return what is asked for; raises `OutputError`."""
        with _full_disks():
            return self._database.execute(question, values).fetchall()

    def each(self, question: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        """Yield what is asked for, row by row; raises `OutputError`."""
        with _full_disks():
            yield from self._database.execute(question, values)

    def make(self, statement: str, **functions: Any) -> None:
        """Carry out a statement that uses functions of one value; raises `OutputError`."""
        for name, function in functions.items():
            self._database.create_function(name, 1, function)
        with _full_disks():
            self._database.execute(statement)


@contextmanager
def _full_disks() -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        raise OutputError(
            f"the list of the photos cannot be kept in a temporary file ({error}): free space, or "
            "name a folder that has some in SQLITE_TMPDIR"
        ) from error
