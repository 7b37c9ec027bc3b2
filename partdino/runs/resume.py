"""What is in the way where something is to be written: never lost silently, never mixed with."""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import Enum
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from partdino.errors import ConfigError, OutputError
from partdino.files import check_writable, recover_folder, refuse_url
from partdino.options import FITTING_OPTIONS, FittedOptions, Options
from partdino.output_marks import RUN_FILE, STORE_FILE, Mark, is_output
from partdino.parts.outline import OUTLINE_SIZE
from partdino.version import __version__

# Where two hashes would tell nobody anything.
_WORDS = {
    "code_sha256": "another state of Part-DINO's code",
    "weights_sha256": "other weights of the backbone",
    "model_sha256": "another model",
}
LEFTOVERS = ".partdino-*"  # temporary files of `partdino.files`, where a run was killed
INSTANCES = "instances"  # in a fingerprint, if objects are told apart
OUTLINE = "outline_size"  # in a fingerprint; that of a run of 0.1 lacks it
LOCK_FILE = ".partdino.lock"  # see `partdino.runs.lock`
LISTS_FOLDER = ".partdino.lists"  # see `partdino.runs.kept_lists`


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

    Those of `LEFTOVERS`, of the lock and of kept lists do not count.
    """
    try:
        names = [entry.name for entry in folder.iterdir()] if folder.exists() else []
        return {name for name in names if not fnmatch(name, LEFTOVERS)} - {LOCK_FILE, LISTS_FOLDER}
    except OSError as error:
        raise OutputError(f"{folder}: {error.strerror}; choose another --out") from error


def fingerprint(
    identity: Mapping[str, Any],
    options: Options | FittedOptions,
    model_sha256: str | None,
    shard: str,
    least_share: float | None = None,
    outline_size: int = OUTLINE_SIZE,
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
    least_share
        Of `partdino.parts.instances`, None where objects are not told apart.
    outline_size
        How fine outlines are, see `partdino.parts.outline`.

    Raises
    ------
    ConfigError
        They are to be told apart, and without a foreground there are none.
    """
    if least_share is not None and options.foreground == "none":
        raise ConfigError(
            "--instances needs a foreground, and with --foreground none photos are all object; "
            "leave one of them out"
        )
    numbers = {f"numbers.{name}": value for name, value in options.numbers.values.items()}
    objects = {} if least_share is None else {INSTANCES: least_share}
    return {
        "version": __version__,
        **{name: getattr(options, name) for name in FITTING_OPTIONS},
        **numbers,
        **identity,
        "model_sha256": model_sha256,
        "shard": shard,
        OUTLINE: outline_size,
        **objects,
    }


def share_of(begun: Any, asked: float | None = None) -> float | None:
    """Return which pieces are objects by a run's fingerprint, None: they are not told apart.

    Parameters
    ----------
    begun
        The fingerprint, as it was read.
    asked
        What is asked for now, which `check_same` may refuse; None: what the run did.

    Raises
    ------
    OutputError
        It is damaged.
    """
    share = _entries(begun).get(INSTANCES) if asked is None else asked
    if share is not None and not (isinstance(share, float | int) and 0 <= share <= 1):
        raise OutputError(f"{RUN_FILE} is damaged: {INSTANCES} is {share!r}, no share; begin anew")
    return share


def outline_of(begun: Any, asked: int | None = None) -> int:
    """Return how fine outlines are by a run's fingerprint, as `share_of` does; 0 if it is of 0.1.

    Of an empty one, which is that of a new run, it is the default.
    """
    done = _entries(begun).get(OUTLINE, 0) if begun else OUTLINE_SIZE
    size = done if asked is None else asked
    if type(size) is not int or size < 0:
        raise OutputError(f"{RUN_FILE} is damaged: {OUTLINE} is {size!r}, no size; begin anew")
    return size


def _entries(begun: Any) -> Mapping[str, Any]:
    if not isinstance(begun, Mapping):
        raise OutputError(f"{RUN_FILE} is damaged: its fingerprint is {begun!r}; begin anew")
    return begun


_AGAIN = "resume with the same, or start again with --overwrite"


def check_same(
    folder: Path, begun: Mapping[str, Any], now: Mapping[str, Any], cure: str = _AGAIN
) -> None:
    """Raise `OutputError` where a folder was begun with other values than it goes on with."""
    for key, value in now.items():
        if begun.get(key) != value:
            what = _WORDS.get(key, f"another {key} ({begun.get(key)!r}, now {value!r})")
            raise OutputError(f"{folder} was begun with {what}; {cure}")


def check_free(folder: Path, results: Mapping[str, Mark], overwrite: bool) -> None:
    """Check a folder that is to hold results, before hours of work.

    Parameters
    ----------
    folder
        Which may be missing.
    results
        The files to write.
    overwrite
        Whether older ones are replaced.

    Raises
    ------
    OutputError
        As of `check_replaceable`, or the folder cannot be written, or holds results of other kinds.
    """
    check_writable(folder)
    names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    if is_output(names) or STORE_FILE in names:
        raise OutputError(f"{folder} holds a run or a store, which stays; choose another --out")
    for name, mark in results.items():
        check_replaceable(folder / name, mark, overwrite)


def check_replaceable(file: Path, mark: Mark, overwrite: bool) -> None:
    """Raise `OutputError` where a file that is to be written would take the place of another one.

    Only older ones of the same kind are ever replaced, and only if that is asked for.
    """
    refuse_url(file)
    recover_folder(file.parent)
    if os.path.isdir(file):
        raise OutputError(f"{file} is a folder; name a file, such as one in it")
    if not os.path.lexists(file):
        return
    if not overwrite:
        raise OutputError(f"{file} exists; pass --overwrite to replace it, or another --out")
    if not mark.may_go(file):
        raise OutputError(
            f"{file} is no {mark.kind}, so it is not replaced; move it, or choose another --out"
        )
