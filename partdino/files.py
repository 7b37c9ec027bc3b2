"""Atomic output: a file is either the old one, the new one, or absent, never half of one."""

from __future__ import annotations

import csv
import errno
import hashlib
import json
import os
import re
import shutil
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from partdino.errors import OutputError, OutputNameError

# File names may hold bytes that are no UTF-8: a report about them must still be written.
_UNENCODABLE = "backslashreplace"

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_FULL = (errno.ENOSPC, errno.EDQUOT)
# What the name is to blame for, and not the disk or its permissions.
_NAME_ERRORS = (errno.ENAMETOOLONG, errno.EILSEQ, errno.ENOTDIR, errno.EISDIR, errno.EEXIST)


def cure(error: OSError, otherwise: str = "choose another --out") -> str:
    """Say what helps where something cannot be written."""
    return "free space and go on" if error.errno in _FULL else otherwise


def is_safe_name(name: object) -> bool:
    """Tell whether a name that was read from a file stays inside the folder that it is used in.

    Names of images are relative paths with forward slashes, without ``..``, ``.`` and empty parts.
    """
    if not isinstance(name, str) or re.search("[\0\ud800-\udfff]", name):
        return False  # what no file is called, and what cannot be written as UTF-8
    return all(part not in ("", ".", "..") for part in name.split("/"))


def file_sha256(path: Path) -> str:
    """Hash a file, in bounded memory; raises `OSError`."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def remembered_sha256(path: Path) -> str:
    """Hash a file once a process, for as long as it is the same one; raises `OSError`."""
    status = path.stat()
    return _sha256_of(path, status.st_ino, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=4096)
def _sha256_of(path: Path, inode: int, size: int, mtime_ns: int) -> str:
    return file_sha256(path)


def file_version(path: Path) -> str:
    """Name the version of a file by its size in bytes and the time of its last change, in ns.

    As rsync and make do: a file is read only where it is needed, and nobody reads millions to see
    whether any has changed. A missing file is a version, too.
    """
    try:
        status = path.stat()
    except (OSError, ValueError):  # the latter of a name that no file can have
        return "missing"
    return f"{status.st_size} {status.st_mtime_ns}"


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
    refuse_url(path)
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


def refuse_url(path: Path) -> None:
    """Raise `OutputError` where an output is a URL: it would make a local folder of that name."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", str(path)):
        raise OutputError(f"{path} is an address: results go to local folders; name one")


def refuse_inside(path: Path | None, option: str, *folders: Path) -> None:
    """Raise `OutputError` where an output is, or is in, a folder of what is read; None is not."""
    real = None if path is None else os.path.realpath(path)
    for folder in folders:
        if real and Path(real).is_relative_to(os.path.realpath(folder)):
            raise OutputError(
                f"{path} is inside {folder}, which is read and stays as it is; choose another "
                f"{option}"
            )


def csv_safe(value: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula: such text gets a quote before it.

    Names of files may begin with what begins a formula; see CWE-1236.
    """
    if not isinstance(value, str) or not value.startswith(_FORMULA):
        return value
    with suppress(ValueError):
        float(value)
        return value  # such as -1.5
    return f"'{value}"


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a comma-separated table with a header line, atomically; raises `OutputError`."""
    with (
        atomic_path(path) as temporary,
        temporary.open("w", newline="", encoding="utf-8", errors=_UNENCODABLE) as stream,
    ):
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows([csv_safe(cell) for cell in row] for row in rows)


def check_writable(path: Path) -> None:
    """Raise `OutputError` where no file can be written to a folder, which may be missing."""
    refuse_url(path)
    try:
        place = path.absolute()
        while not place.exists():  # made when there is something to write, not before
            place = place.parent
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        raise OutputError(f"cannot write to {path}: {error.strerror}; {cure(error)}") from error


def files_below(folder: Path) -> Iterator[str]:
    """Yield all that is below a folder and is no folder, one by one, in no order.

    Links to folders are not followed, and are none of it. Nothing where there is no folder.
    """
    pending = [os.fspath(folder)]
    while pending:
        with suppress(OSError), os.scandir(pending.pop()) as entries:
            for entry in entries:
                if not entry.is_dir():
                    yield entry.path
                elif not entry.is_symlink():
                    pending.append(entry.path)


def remove(path: Path) -> None:
    """Remove a file or folder, if there is one; raises `OutputError`."""
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        reason = f"cannot remove {path}: {error.strerror}; choose another --out"
        raise OutputError(reason) from error


def recover_folder(path: Path) -> None:
    """Put a folder back that `whole_folder` was replacing when it was killed.

    What reads or writes something in a folder calls this before it looks whether that is there.

    Parameters
    ----------
    path
        The folder, or anything in it.

    Raises
    ------
    OutputError
        It cannot be put back.
    """
    with suppress(ValueError):  # a name that no file can have
        path = Path(os.path.realpath(path))
    for folder in (path, *path.parents):
        old = _aside(folder)
        if os.path.isdir(old) and not _holds_anything(folder):
            try:
                os.rename(old, folder)  # takes the place of an empty folder, too
            except OSError as error:
                raise OutputError(
                    f"{folder} was being replaced when that was killed, and what it held is in "
                    f"{old}, which cannot be put back: {error.strerror}; rename it"
                ) from error
        elif os.path.exists(folder):
            return


def _holds_anything(folder: Path) -> bool:
    try:
        return any(folder.iterdir())
    except FileNotFoundError:
        return False
    except OSError:  # a file, or what cannot be listed
        return True


def _aside(path: Path) -> Path:
    return path.with_name(f".partdino-old-{path.name}")


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Yield a new folder that takes the place of `path` when the block ends without an error.

    Whether that may be replaced is for the caller to see, after `recover_folder`.

    Raises
    ------
    OutputError
        It cannot be written.
    """
    path = Path(os.path.realpath(path))  # where a link leads, and not the link
    # Neither is the other's of a folder of another name.
    new, old = path.with_name(f".partdino-new-{path.name}"), _aside(path)
    remove(new)  # of a run that was killed
    if _holds_anything(path):
        remove(old)
    check_writable(new)
    try:
        new.mkdir(parents=True)
        yield new
        if path.exists():
            os.rename(path, old)
            os.rename(new, path)
            shutil.rmtree(old, ignore_errors=True)
        else:
            os.rename(new, path)
    except OSError as error:
        reason = f"cannot write {path}: {error.strerror}; {cure(error, 'choose another name')}"
        raise OutputError(reason) from error
    finally:
        shutil.rmtree(new, ignore_errors=True)


def link(source: Path, target: Path) -> None:
    """Put a file that never changes to a second place, without a copy where the disk allows.

    Raises `OSError`; `FileExistsError` where something is in the second place: a copy would write
    through a link into what that is a link to.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:  # another disk, or one without links
        shutil.copyfile(source, target)
