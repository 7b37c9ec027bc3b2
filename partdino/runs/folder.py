"""The folder a run writes to: nothing overwritten silently, no half run taken for a whole one."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from partdino.errors import OutputError
from partdino.files import remove, write_json
from partdino.runs.resume import LEFTOVERS, Existing, check_same, contents

RUN_FILE = "run.json"
MODEL_FILE = "parts.safetensors"
CONFIG_FILE = "config.yaml"
CURVE_NAME = "parts_curve"  # and .csv, .png, .svg
RESULTS_FILE = "results.jsonl"
PER_IMAGE = (RESULTS_FILE, "labels", "overlays")
PER_RUN = (
    *(RUN_FILE, MODEL_FILE, CONFIG_FILE, "coco.json", "parts.csv", "failures.csv"),
    *("contact_sheet.jpg", "parts_curve.csv", "parts_curve.png", "parts_curve.svg"),
)
_WORK = ".partdino"
_DROPPED = ".partdino-dropped"  # one of LEFTOVERS
_FINGERPRINT = "fingerprint.json"


class OutputFolder:
    """The output folder of one run, with a work folder inside it until the run is finished.

    Parameters
    ----------
    path
        The folder, that `partdino.runs.lock` holds for this run.
    existing
        What to do if it holds results already.

    Raises
    ------
    OutputError
        It holds a run and `existing` is "refuse", or anything else.
    """

    def __init__(self, path: Path, existing: Existing) -> None:
        self.path = path
        self._work = path / _WORK
        self._existing = existing
        self.store = self._work / "features"
        self._check_contents()

    def finished(self, fingerprint: dict[str, Any]) -> dict[str, Any] | None:
        """Return the `run.json` of the run to resume, if that has come to its end, else None.

        Raises
        ------
        OutputError
            It was another run.
        """
        run = read_run(self.path)
        if self._existing is not Existing.RESUME or is_unfinished(self.path) or not run:
            return None
        check_same(self.path, run["fingerprint"], fingerprint)
        return run

    def begin(self, fingerprint: dict[str, Any]) -> None:
        """Clear what an earlier run left, all but the images' own files of one that is resumed.

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
            remove(self.store)
        else:
            check_same(self.path, begun, fingerprint)
        # Before anything else goes: whenever this is killed, the rest shows as an unfinished run.
        write_json(self._work / _FINGERPRINT, fingerprint)
        for name in PER_RUN if begun else (*PER_RUN, *PER_IMAGE):
            remove(self.path / name)
        for leftover in list(self.path.rglob(LEFTOVERS)):
            remove(leftover)

    def finish(self, run: dict[str, Any]) -> None:
        """Write `run.json`, the mark of a finished run, and drop the work folder."""
        write_json(self.path / RUN_FILE, run)
        # In one step: half a work folder would pass for an unfinished run.
        dropped = self.path / _DROPPED
        os.rename(self._work, dropped)
        shutil.rmtree(dropped, ignore_errors=True)

    def _check_contents(self) -> None:
        names = contents(self.path)
        if not names:
            return
        if _WORK not in names and self._begun() is None:
            raise OutputError(f"{self.path} holds files of something else; choose another --out")
        if _WORK not in names and self._existing is Existing.REFUSE:
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
        return fingerprint or read_run(self.path).get("fingerprint")


def read_run(folder: Path) -> dict[str, Any]:
    """Return the `run.json` of a finished run; an empty one where there is none."""
    return _read_json(folder / RUN_FILE)


def is_unfinished(folder: Path) -> bool:
    """Return whether a run was begun in a folder and did not come to its end."""
    return (folder / _WORK).exists()


def _read_json(path: Path) -> dict[str, Any]:
    """Return a JSON object; an empty one where there is none, or a file of something else."""
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}
