"""The folder a run writes to: nothing overwritten silently, no half run taken for a whole one."""

from __future__ import annotations

import json
import shutil
import tempfile
from enum import Enum
from pathlib import Path
from typing import Any

from partdino.errors import OutputError
from partdino.files import write_json
from partdino.store import DescriptionStore

RUN_FILE = "run.json"
MODEL_FILE = "parts.safetensors"
_RESULTS = (
    *(RUN_FILE, MODEL_FILE, "config.yaml", "coco.json", "parts.csv", "failures.csv"),
    *("contact_sheet.jpg", "labels", "overlays"),
    *("parts_curve.csv", "parts_curve.png", "parts_curve.svg"),
)
_WORK = ".partdino"
_FINGERPRINT = "fingerprint.json"
_LEFTOVERS = ".partdino-*"  # temporary files of `partdino.files`, where a run was killed


class Existing(str, Enum):
    """What to do with the results of an earlier run."""

    REFUSE = "refuse"
    OVERWRITE = "overwrite"
    RESUME = "resume"


class OutputFolder:
    """The output folder of one run, with a work folder inside it until the run is finished.

    Parameters
    ----------
    path
        The folder; made where missing.
    existing
        What to do if it holds results already.

    Raises
    ------
    OutputError
        It holds an unfinished run and `existing` is "refuse", a finished one and it is not
        "overwrite", or anything else; or it cannot be written.
    """

    def __init__(self, path: Path, existing: Existing) -> None:
        self.path = path
        self._work = path / _WORK
        self._existing = existing
        self.store = DescriptionStore(self._work / "descriptions")
        self._check_contents()
        check_writable(path)

    def begin(self, fingerprint: dict[str, Any]) -> None:
        """Clear what an earlier run left, all but the descriptions of one that is resumed.

        Parameters
        ----------
        fingerprint
            All that decides the results except the images; what resuming compares.

        Raises
        ------
        OutputError
            The run to resume was another one, or old results cannot be removed.
        """
        begun = self._begun() if self._existing is Existing.RESUME else None
        if begun is None:
            _remove(self.store.folder)
        else:
            self._check_same(begun, fingerprint)
        # Before anything else goes: whenever this is killed, the rest shows as an unfinished run.
        write_json(self._work / _FINGERPRINT, fingerprint)
        for old in (*(self.path / name for name in _RESULTS), *self.path.glob(_LEFTOVERS)):
            _remove(old)

    def finish(self, run: dict[str, Any]) -> None:
        """Write `run.json`, the mark of a finished run, and drop the work folder."""
        write_json(self.path / RUN_FILE, run)
        shutil.rmtree(self._work, ignore_errors=True)

    def _check_contents(self) -> None:
        try:
            contents = {entry.name for entry in self.path.iterdir()} if self.path.exists() else {}
        except OSError as error:
            raise OutputError(f"{self.path}: {error.strerror}; choose another --out") from error
        if not contents:
            return
        if _WORK not in contents and self._begun() is None:
            raise OutputError(f"{self.path} holds files of something else; choose another --out")
        if _WORK not in contents and self._existing is not Existing.OVERWRITE:
            raise OutputError(
                f"{self.path} holds a finished run; pass --overwrite to replace it or another --out"
            )
        if self._existing is Existing.REFUSE:
            raise OutputError(
                f"{self.path} holds an unfinished run; pass --resume to go on with it, --overwrite "
                "to start again, or another --out"
            )

    def _begun(self) -> dict[str, Any] | None:
        """Return the fingerprint of the unfinished or finished run in the folder, if any."""
        fingerprint = _read_json(self._work / _FINGERPRINT)
        return fingerprint or _read_json(self.path / RUN_FILE).get("fingerprint")

    def _check_same(self, begun: dict[str, Any], fingerprint: dict[str, Any]) -> None:
        for key, value in fingerprint.items():
            if begun.get(key) != value:
                raise OutputError(
                    f"{self.path} was begun with another {key} ({begun.get(key)!r}, now {value!r});"
                    " resume with the same, or start again with --overwrite"
                )


def _read_json(path: Path) -> dict[str, Any]:
    """Return a JSON object; an empty one where there is none, or a file of something else."""
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}


def _remove(path: Path) -> None:
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        reason = f"cannot remove {path}: {error.strerror}; choose another --out"
        raise OutputError(reason) from error


def check_writable(path: Path) -> None:
    """Make a folder where missing; raise `OutputError` where no file can be written to it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise OutputError(
            f"cannot write to {path}: {error.strerror}; choose another --out"
        ) from error
