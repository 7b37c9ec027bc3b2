"""Text that grows while a run goes on and becomes part of a file only when the run is complete."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import IO

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

    def move_to(self, stream: IO[bytes]) -> None:
        """Copy everything written so far to a stream and let go of it."""
        with self._file as file:
            file.seek(0)
            shutil.copyfileobj(file, stream, length=1 << 20)

    def _cannot_write(self, error: OSError) -> OutputError:
        reason = error.strerror or str(error)
        return OutputError(f"cannot write to {self._folder}: {reason}; {cure(error)}")
