"""What is in the way where something is to be written: never lost silently, never mixed with."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from partdino.errors import ConfigError, OutputError
from partdino.files import check_writable

LEFTOVERS = ".partdino-*"  # temporary files of `partdino.files`, where a run was killed
LOCK_FILE = ".partdino.lock"  # see `partdino.runs.lock`


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


def check_free(folder: Path, result: str, overwrite: bool) -> None:
    """Check a folder that is to hold a result, before hours of work; raises `OutputError`."""
    check_writable(folder)
    if (folder / result).exists() and not overwrite:
        raise OutputError(f"{folder} holds {result}; pass --overwrite, or choose another --out")
