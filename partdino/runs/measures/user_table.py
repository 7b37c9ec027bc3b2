"""A user's own table of the photos, and its rows for the photos of a run."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from unicodedata import normalize

from partdino.errors import InputError

_NAME_COLUMNS = ("image", "file", "filename", "file_name", "photo", "name")
_SEPARATORS = ",;\t"
_SHOWN = 3


@dataclass(frozen=True)
class UserTable:
    """Rows by name of a file.

    Attributes
    ----------
    path
        Of the table.
    columns
        Their names, without that of the file names.
    rows
        The cells of each row, as many as columns.
    """

    path: Path
    columns: tuple[str, ...]
    rows: dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Joined:
    """The rows of a table for the photos of a run.

    Attributes
    ----------
    columns
        Their names.
    rows
        By the image's name; images that the table does not have are absent.
    unmatched
        One line about those, and about rows of no image; empty if there are none.
    """

    columns: tuple[str, ...]
    rows: dict[str, tuple[str, ...]]
    unmatched: str

    def row(self, name: str) -> tuple[str, ...]:
        """Return the cells of an image, empty ones where there are none."""
        return self.rows.get(name, ("",) * len(self.columns))


def read_user_table(path: Path) -> UserTable:
    """Read a table of photos, separated by commas, semicolons or tabs, in UTF-8.

    The names of the files are in the column image, file, filename, file_name, photo or name, else
    in the first one.

    Raises
    ------
    InputError
        It cannot be read, has no two columns, a column twice, or two rows for one file.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; check the path") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8; save it as CSV UTF-8") from error
    first = lines[0] if lines else ""
    separator = max(_SEPARATORS, key=first.count)
    header, *rows = [
        [cell.strip() for cell in row] for row in csv.reader(lines, delimiter=separator)
    ] or [[]]
    if len(header) < 2:
        raise InputError(f"{path} needs a header line with a column of file names and another one")
    if len(set(header)) < len(header):
        raise InputError(f"{path} has two columns of one name; rename one")
    by_name = (i for i, column in enumerate(header) if column.lower() in _NAME_COLUMNS)
    at = next(by_name, 0)
    found: dict[str, tuple[str, ...]] = {}
    for row in rows:
        cells = [*row, *[""] * len(header)][: len(header)]
        name = normalize("NFC", cells.pop(at))
        if name in found:
            raise InputError(f"{path} has two rows for {name}; remove one")
        if name:
            found[name] = tuple(cells)
    return UserTable(path, tuple(header[:at] + header[at + 1 :]), found)


def join(table: UserTable, names: Sequence[str]) -> Joined:
    """Find the row of each image.

    By its whole name, else by its file name, else by that without its suffix, where no other image
    has the same. Composed and decomposed letters (NFC, NFD) are the same.

    Parameters
    ----------
    table
        The table.
    names
        Of all images of the run.
    """
    shorter = Counter(key for name in names for key in set(_keys(name)[1:]))
    rows, used = {}, set()
    for name in names:
        whole, *others = _keys(name)
        keys = [whole, *(key for key in others if key == whole or shorter[key] == 1)]
        if key := next((key for key in keys if key in table.rows), None):
            rows[name] = table.rows[key]
            used.add(key)
    absent = (name for name in names if name not in rows)
    unused = (name for name in table.rows if name not in used)
    parts = [
        _listed(absent, len(names) - len(rows), f"{table.path} has no row for {{}} of the photos"),
        _listed(unused, len(table.rows) - len(used), f"{{}} rows of {table.path} are of no photo"),
    ]
    return Joined(table.columns, rows, "; ".join(filter(None, parts)))


def _keys(name: str) -> list[str]:
    path = PurePosixPath(normalize("NFC", name))
    return [str(path), path.name, path.stem]


def _listed(names: Iterator[str], count: int, problem: str) -> str:
    if count == 0:
        return ""
    first = ", ".join(name for name, _ in zip(names, range(_SHOWN), strict=False))
    return f"{problem.format(count)} ({first}{', ...' if count > _SHOWN else ''})"
