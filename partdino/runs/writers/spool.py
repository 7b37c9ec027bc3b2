"""Text that grows while a run goes on and becomes part of a file only when the run is complete."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from partdino.errors import OutputError
from partdino.files import cure


class Spool:
    """An unnamed temporary file: flat memory, and gone whichever way the process ends.

    Parameters
    ----------
    folder
        Where its bytes are kept; made where missing. The output folder rather than the system's
        temporary one, which is often too small for the annotations of millions of images.

    Raises
    ------
    OutputError
        The folder cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (outlives this call)
        except OSError as error:
            raise self._cannot_write(error) from error

    def write(self, text: str) -> None:
        """Append text as UTF-8; bytes of a file name that are not UTF-8 are written as escapes."""
        try:
            self._file.write(text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise self._cannot_write(error) from error

    def lines(self) -> Iterator[str]:
        """Yield the lines written so far, from the first one; nothing is written meanwhile."""
        self._file.seek(0)
        for line in self._file:
            yield line.decode("utf-8")

    def move_to(self, stream: IO[bytes]) -> None:
        """Copy everything written so far to a stream and let go of it."""
        with self._file as file:
            file.seek(0)
            shutil.copyfileobj(file, stream, length=1 << 20)

    def _cannot_write(self, error: OSError) -> OutputError:
        reason = error.strerror or str(error)
        return OutputError(f"cannot write to {self._folder}: {reason}; {cure(error)}")


class JsonList:
    """The items of a JSON list, one a line, kept on disk.

    Parameters
    ----------
    folder
        As for `Spool`.

    Attributes
    ----------
    length : int
        How many there are.
    """

    def __init__(self, folder: Path) -> None:
        self._spool = Spool(folder)
        self.length = 0

    def append(self, item: Mapping[str, Any]) -> None:
        """Add an item; raises `OutputError`."""
        self._spool.write(("," if self.length else "") + "\n" + json.dumps(item))
        self.length += 1

    def move_to(self, stream: IO[bytes]) -> None:
        """Write the list to a stream and let go of the items."""
        stream.write(b"[")
        self._spool.move_to(stream)
        stream.write(b"\n]")


def write_lists(stream: IO[bytes], head: Mapping[str, Any], lists: Mapping[str, JsonList]) -> None:
    """Write a JSON object: some keys, at least one, and lists, whose items are let go of."""
    stream.write(json.dumps(head).removesuffix("}").encode())
    for key, items in lists.items():
        stream.write(f',\n"{key}": '.encode())
        items.move_to(stream)
    stream.write(b"\n}\n")
