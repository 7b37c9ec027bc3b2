"""What is in the way where something is to be written: never lost silently, never mixed with."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from partdino.errors import ConfigError, OutputError
from partdino.files import check_writable
from partdino.options import FITTING_OPTIONS, FittedOptions, Options
from partdino.version import __version__

# Where two hashes would tell nobody anything.
_WORDS = {
    "code_sha256": "another state of Part-DINO's code",
    "weights_sha256": "other weights of the backbone",
    "model_sha256": "another model",
}
LEFTOVERS = ".partdino-*"  # temporary files of `partdino.files`, where a run was killed
LOCK_FILE = ".partdino.lock"  # see `partdino.runs.lock`


class Existing(str, Enum):
    """What to do with the results of an earlier run."""

    REFUSE = "refuse"
    OVERWRITE = "overwrite"
    RESUME = "resume"
    UPDATE = "update"
    REFIT = "update --refit"

    @classmethod
    def of(
        cls, overwrite: bool, resume: bool, update: bool = False, refit: bool = False
    ) -> Existing:
        """Return what the flags of the command line say; raises `ConfigError`."""
        if refit and not update:
            raise ConfigError("--refit goes with --update")
        if overwrite + resume + update > 1:
            others = " and --update takes up what has changed" if update else ""
            raise ConfigError(
                f"--overwrite starts again, --resume goes on{others}: pass one of them"
            )
        flags = {
            cls.OVERWRITE: overwrite,
            cls.RESUME: resume,
            cls.REFIT: refit,
            cls.UPDATE: update,
        }
        return next((existing for existing, given in flags.items() if given), cls.REFUSE)


def contents(folder: Path) -> set[str]:
    """Return the names in a folder that may be missing; raises `OutputError`.

    Those of `LEFTOVERS` and of the lock do not count.
    """
    try:
        names = [entry.name for entry in folder.iterdir()] if folder.exists() else []
        return {name for name in names if not fnmatch(name, LEFTOVERS)} - {LOCK_FILE}
    except OSError as error:
        raise OutputError(f"{folder}: {error.strerror}; choose another --out") from error


def fingerprint(
    identity: Mapping[str, Any],
    options: Options | FittedOptions,
    model_sha256: str | None,
    shard: str,
) -> dict[str, Any]:
    """Collect all that decides a run's results except its images: what resuming it compares.

    Parameters
    ----------
    identity
        Of the descriptions, see `describing_identity`.
    options
        What was asked of the fit, or what the model was fitted with.
    model_sha256
        Of the model that was given, None where it is fitted by the run.
    shard
        Which share of the images the run labels.
    """
    numbers = {f"numbers.{name}": value for name, value in options.numbers.values.items()}
    return {
        "version": __version__,
        **{name: getattr(options, name) for name in FITTING_OPTIONS},
        **numbers,
        **identity,
        "model_sha256": model_sha256,
        "shard": shard,
    }


_AGAIN = "resume with the same, or start again with --overwrite"


def check_same(
    folder: Path, begun: Mapping[str, Any], now: Mapping[str, Any], cure: str = _AGAIN
) -> None:
    """Raise `OutputError` where a folder was begun with other values than it goes on with."""
    for key, value in now.items():
        if begun.get(key) != value:
            what = _WORDS.get(key, f"another {key} ({begun.get(key)!r}, now {value!r})")
            raise OutputError(f"{folder} was begun with {what}; {cure}")


def check_free(folder: Path, result: str, overwrite: bool) -> None:
    """Check a folder that is to hold a result, before hours of work; raises `OutputError`."""
    check_writable(folder)
    if (folder / result).exists() and not overwrite:
        raise OutputError(f"{folder} holds {result}; pass --overwrite, or choose another --out")
