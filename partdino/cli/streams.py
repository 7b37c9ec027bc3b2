"""Standard output and error that may be closed, full, or a pipe whose reader has gone."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from typing import Any, TextIO


class Guarded:
    """A text stream that keeps the first error of the one behind it, and drops what follows.

    What a run has done is on the disk by the time that it tells of it: that it cannot be told
    changes nothing about it.

    Parameters
    ----------
    stream
        Any text stream; None where it was closed from the start.

    Attributes
    ----------
    error : OSError or None
        What went wrong; a reader that has gone, as of ``| head``, is no error.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self.error: OSError | None = None
        self._lost = False

    def write(self, text: str) -> int:
        """Write text, or drop it."""
        return self._attempt("write", text) or 0

    def flush(self) -> None:
        """Write what is buffered, or drop it."""
        if self._stream is not None:
            self._attempt("flush")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _attempt(self, method: str, *arguments: str) -> Any:
        if self._lost:
            return None
        try:
            if self._stream is None:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            return getattr(self._stream, method)(*arguments)
        except OSError as error:
            self._lost = True
            self.error = None if error.errno == errno.EPIPE else error
            if self._stream is not None:  # what is buffered fails at the end of the process again
                with suppress(OSError, ValueError):
                    os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
            return None


def guard_streams() -> Guarded:
    """Put guards before standard output and error, and return that of the output.

    A closed descriptor is taken by nothing else from here on: the next file that is opened would
    get its number, and what a library prints.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
    output = Guarded(sys.stdout)
    sys.stdout, sys.stderr = output, Guarded(sys.stderr)
    return output


def in_utf8() -> None:
    """Start this process again in Python's UTF-8 mode where names of files are of another encoding.

    With a locale that has no UTF-8, such as ``LC_ALL=C``, names that hold other letters could not
    be written.
    """
    if os.name == "posix" and sys.getfilesystemencoding().lower() not in ("utf-8", "utf8"):
        environment = {**os.environ, "PYTHONUTF8": "1"}
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)
