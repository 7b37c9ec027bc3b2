"""What is in the way where something is to be written: never lost silently, never mixed with."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from partdino.errors import ConfigError, OutputError
from partdino.files import cure

LEFTOVERS = ".partdino-*"  # temporary files of `partdino.files`, where a run was killed
LOCK_FILE = ".partdino.lock"  # see `partdino.alone`


class Existing(str, Enum):
    """What to do with the results of an earlier run."""

    REFUSE = "refuse"
    OVERWRITE = "overwrite"
    RESUME = "resume"

    @classmethod
    def of(cls, overwrite: bool, resume: bool) -> Existing:
        """Return what two flags of the command line say; raises `ConfigError`."""
        if overwrite and resume:
            raise ConfigError("--overwrite starts again and --resume goes on: pass one of them")
        return cls.OVERWRITE if overwrite else cls.RESUME if resume else cls.REFUSE


def contents(folder: Path) -> set[str]:
    """Return the names in a folder that may be missing; raises `OutputError`.

    Those of `LEFTOVERS` and of the lock do not count.
    """
    try:
        names = [entry.name for entry in folder.iterdir()] if folder.exists() else []
        return {name for name in names if not fnmatch(name, LEFTOVERS)} - {LOCK_FILE}
    except OSError as error:
        raise OutputError(f"{folder}: {error.strerror}; choose another --out") from error


def check_same(folder: Path, begun: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise `OutputError` where a folder was begun with other values than it is resumed with."""
    for key, value in now.items():
        if begun.get(key) != value:
            raise OutputError(
                f"{folder} was begun with another {key} ({begun.get(key)!r}, now {value!r});"
                " resume with the same, or start again with --overwrite"
            )


def check_writable(path: Path) -> None:
    """Raise `OutputError` where no file can be written to a folder, which may be missing."""
    try:
        place = path.absolute()
        while not place.exists():  # made when there is something to write, not before
            place = place.parent
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        raise OutputError(f"cannot write to {path}: {error.strerror}; {cure(error)}") from error


def check_free(folder: Path, result: str, overwrite: bool) -> None:
    """Check a folder that is to hold a result, before hours of work; raises `OutputError`."""
    check_writable(folder)
    if (folder / result).exists() and not overwrite:
        raise OutputError(f"{folder} holds {result}; pass --overwrite, or choose another --out")


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


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Yield a new folder that takes the place of `path` when the block ends without an error.

    Raises
    ------
    OutputError
        It cannot be written.
    """
    path = Path(os.path.abspath(path))
    new = path.with_name(f".partdino-{path.name}")
    remove(new)  # of a run that was killed
    check_writable(new)
    try:
        new.mkdir(parents=True)
        yield new
        remove(path)
        os.rename(new, path)
    except OSError as error:
        reason = f"cannot write {path}: {error.strerror}; {cure(error, 'choose another name')}"
        raise OutputError(reason) from error
    finally:
        shutil.rmtree(new, ignore_errors=True)


def link(source: Path, target: Path) -> None:
    """Put a file that never changes to a second place, without a copy where the disk allows."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:  # another disk, or one without links
        shutil.copyfile(source, target)
