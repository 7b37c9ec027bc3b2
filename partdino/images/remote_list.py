"""The list of what is behind a URL: made once, on the disk, and kept while a run needs it."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from partdino.errors import InputError
from partdino.files import atomic_path
from partdino.images.remote import RemoteFile, remote_folder, tree_path
from partdino.output_marks import LABELS_FOLDER, RUN_FILE
from partdino.scratch import Scratch

_TABLE = "CREATE TABLE files (url BLOB PRIMARY KEY, version TEXT) WITHOUT ROWID"


class RemoteList:
    """Files behind a URL, without the hidden ones and the output folders of earlier runs.

    Parameters
    ----------
    url, folder
        See `remote_folder`.
    scratch
        Has them in a table ``files``.

    Attributes
    ----------
    url, folder : str
        The same.
    """

    def __init__(self, url: str, folder: str, scratch: Scratch) -> None:
        self.url, self.folder, self._scratch = url, folder, scratch

    @property
    def is_file(self) -> bool:
        """Whether the URL is that of a single file, which is wanted whatever its suffix."""
        return self.folder != tree_path(self.url)

    def __iter__(self) -> Iterator[RemoteFile]:
        for url, version in self._scratch.each("SELECT url, version FROM files"):
            yield RemoteFile(os.fsdecode(url), version)


def list_remote(url: str, keep: Path | None = None) -> RemoteList:
    """List what is behind a URL, or read the list that was kept.

    Parameters
    ----------
    url
        Of a folder or a file.
    keep
        A folder for lists of folders that several runs may share: the first one lists, while the
        others wait. None: the list is gone with the process.

    Raises
    ------
    InputError
        There is nothing there, it cannot be listed, or the list that was kept is damaged.
    OutputError
        The list cannot be written.
    """
    if keep is None:
        return _listed(url)
    name = hashlib.sha256(url.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    file = keep / f".partdino.{name}.sqlite"
    if not file.exists():
        with _alone(file):
            if not file.exists():
                listed = _listed(url)
                if listed.is_file:
                    return listed
                with atomic_path(file) as temporary:
                    listed._scratch.save(temporary)
    try:
        return RemoteList(url, tree_path(url), Scratch.opened(file))
    except sqlite3.DatabaseError as error:
        raise InputError(
            f"{file} is damaged ({error}); delete it, and {url} is listed anew"
        ) from error


def _listed(url: str) -> RemoteList:
    scratch = Scratch(_TABLE)
    folder, pages = remote_folder(url)
    runs: list[str] = []
    for page in pages:
        scratch.change(
            "REPLACE INTO files VALUES (?, ?)",
            ((os.fsencode(file.url), file.version) for file in page),
        )
        places = (file.url.partition("::")[0] for file in page)
        runs += [run for run in places if run.endswith(f"/{RUN_FILE}")]
    for run in runs:
        _leave_out(run.removesuffix(RUN_FILE), scratch)
    return RemoteList(url, folder, scratch)


def _leave_out(folder: str, scratch: Scratch) -> None:
    """Remove the files of a folder if it is the output of a run."""
    inside = _span(f"{folder}{LABELS_FOLDER}/")
    if scratch.rows("SELECT 1 FROM files WHERE url >= ? AND url < ? LIMIT 1", *inside):
        scratch.change("DELETE FROM files WHERE url >= ? AND url < ?", [_span(folder)])


def _span(folder: str) -> tuple[bytes, bytes]:
    """Return what all URLs that begin with a folder lie between, which ends with a slash."""
    start = os.fsencode(folder)
    return start, start[:-1] + bytes([start[-1] + 1])


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Wait for other processes that make a file; disks without locks are on their own."""
    file.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(file.with_suffix(".lock"))
    try:
        lock.acquire()
    except (NotImplementedError, OSError):
        yield
        return
    try:
        yield
    finally:
        lock.release()
