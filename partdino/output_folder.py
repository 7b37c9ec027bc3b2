"""The folder a run writes to: nothing overwritten silently, no half run mistaken for a whole one."""

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
_WORK = ".partdino"
_RESULTS = (
    *(RUN_FILE, MODEL_FILE, "config.yaml", "coco.json", "parts.csv", "failures.csv"),
    *("contact_sheet.jpg", "labels", "overlays", _WORK),
)


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
        It holds results and `existing` is "refuse", holds anything else, or cannot be written.
    """

    def __init__(self, path: Path, existing: Existing) -> None:
        self.path = path
        self._existing = existing
        self._check_contents()
        _check_writable(path)
        self.store = DescriptionStore(path / _WORK / "descriptions")

    def begin(self, fingerprint: dict[str, Any]) -> None:
        """Clear or keep what an earlier run left.

        Parameters
        ----------
        fingerprint
            All that decides the results except the images; what resuming compares.

        Raises
        ------
        OutputError
            The unfinished run was another one.
        """
        if self._existing is Existing.RESUME and (begun := self._begun()) is not None:
            changed = [key for key in fingerprint if begun.get(key) != fingerprint[key]]
            if changed:
                raise OutputError(
                    f"{self.path} was begun with another {changed[0]} "
                    f"({begun.get(changed[0])!r}, now {fingerprint[changed[0]]!r}); "
                    "resume with the same, or start again with --overwrite"
                )
        else:
            self._clear()
        write_json(self.path / _WORK / "fingerprint.json", fingerprint)

    def finish(self, run: dict[str, Any]) -> None:
        """Write `run.json`, the mark of a finished run, and drop the work folder."""
        write_json(self.path / RUN_FILE, run)
        shutil.rmtree(self.path / _WORK, ignore_errors=True)

    def _check_contents(self) -> None:
        try:
            contents = {entry.name for entry in self.path.iterdir()} if self.path.exists() else {}
        except OSError as error:
            raise OutputError(f"{self.path}: {error.strerror}; choose another --out") from error
        if not contents:
            return
        if not {RUN_FILE, _WORK} & set(contents):
            raise OutputError(f"{self.path} holds files of something else; choose another --out")
        if self._existing is Existing.REFUSE:
            state = "a finished run" if RUN_FILE in contents else "an unfinished run"
            raise OutputError(
                f"{self.path} holds {state}; pass --overwrite to replace it, --resume to go on "
                "with it, or another --out"
            )

    def _begun(self) -> dict[str, Any] | None:
        """Return the fingerprint of the unfinished or finished run in the folder, if any."""
        for file in (self.path / _WORK / "fingerprint.json", self.path / RUN_FILE):
            if file.is_file():
                document = json.loads(file.read_text(encoding="utf-8"))
                return document.get("fingerprint", document)
        return None

    def _clear(self) -> None:
        for name in _RESULTS:
            target = self.path / name
            if target.is_dir() and not target.is_symlink():
                shutil.rmtree(target)
            else:
                target.unlink(missing_ok=True)


def _check_writable(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise OutputError(
            f"cannot write to {path}: {error.strerror}; choose another --out"
        ) from error
