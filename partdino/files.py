"""Atomic output: a file is either the old one, the new one, or absent, never half of one."""

from __future__ import annotations

import csv
import errno
import json
import os
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from partdino.errors import OutputError, OutputNameError

# File names may hold bytes that are no UTF-8: a report about them must still be written.
_UNENCODABLE = "backslashreplace"

_FULL = (errno.ENOSPC, errno.EDQUOT)
# What the name is to blame for, and not the disk or its permissions.
_NAME_ERRORS = (errno.ENAMETOOLONG, errno.EILSEQ, errno.ENOTDIR, errno.EISDIR, errno.EEXIST)


def cure(error: OSError, otherwise: str = "choose another --out") -> str:
    """Say what helps where something cannot be written."""
    return "free space and go on" if error.errno in _FULL else otherwise


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path that becomes ``path`` when the block ends without an error.

    Parameters
    ----------
    path
        The file to write; its folder is made where missing.

    Yields
    ------
    Path
        An empty temporary file in the same folder with the same suffix; removed on an error.

    Raises
    ------
    OutputError
        The folder or the file cannot be written; an `OutputNameError` where another name could.
    """
    temporary = path.with_name(f".partdino-{uuid.uuid4().hex}{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Not `tempfile`, whose files only their owner may read.
        temporary.touch(exist_ok=False)
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in _NAME_ERRORS:
            raise OutputNameError(f"cannot write {path}: {reason}; choose another name") from error
        raise OutputError(f"cannot write {path}: {reason}; {cure(error)}") from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def write_bytes(path: Path, content: bytes) -> None:
    """Write ``content`` atomically; raises `OutputError`."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)


def write_text(path: Path, text: str) -> None:
    """Write ``text`` as UTF-8, atomically; raises `OutputError`."""
    write_bytes(path, text.encode("utf-8", _UNENCODABLE))


def write_json(path: Path, document: Any) -> None:
    """Write ``document`` as indented JSON, atomically; raises `OutputError`."""
    write_text(path, json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a comma-separated table with a header line, atomically; raises `OutputError`."""
    with (
        atomic_path(path) as temporary,
        temporary.open("w", newline="", encoding="utf-8", errors=_UNENCODABLE) as stream,
    ):
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
