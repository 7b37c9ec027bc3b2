"""The folder a run writes to: nothing overwritten silently, no half run taken for a whole one.

What a run makes takes the place of older results only when all of it is there: until then it lies
in a work folder inside the output folder, and what is there already stays as it is, also as an
input of the run. A run into an empty folder has nothing to spare and writes there at once.
"""

from __future__ import annotations

import json
import os
import shutil
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from partdino.errors import InputError, OutputError
from partdino.files import (
    file_version,
    files_below,
    is_safe_name,
    link,
    recover_folder,
    remove,
    write_json,
)
from partdino.output_marks import (
    CURVE,
    DROPPED_FOLDER,
    INSTANCES_FOLDER,
    LABELS_FOLDER,
    MEASUREMENTS,
    REVIEW_FILE,
    REVIEW_FOLDER,
    RUN_FILE,
    WORK_FOLDER,
)
from partdino.runs.replacing import WHOLE, move_in
from partdino.runs.result_log import RESULTS_FILE, Recorded, read_results
from partdino.runs.resume import LEFTOVERS, Existing, check_same, contents, share_of
from partdino.runs.writers import CURRENT_FILE

MODEL_FILE = "parts.safetensors"
CONFIG_FILE = "config.yaml"
CURVE_NAME = "parts_curve"  # and .csv, .png, .svg
# Of each image, and the suffix of its file; see `partdino.runs.image_names`.
PER_IMAGE = {
    LABELS_FOLDER: ".png",
    "overlays": ".jpg",
    REVIEW_FOLDER: ".npz",
    INSTANCES_FOLDER: ".png",
}
_EVERY_RUN = (
    *(MODEL_FILE, CONFIG_FILE, "coco.json", "parts.csv", "failures.csv", "contact_sheet.jpg"),
)
# Of some runs, and of `partdino measure`: gone with the results that they are of, if they are ours.
_SOME_RUNS = {
    **{f"{CURVE_NAME}{suffix}": mark for suffix, mark in CURVE.items()},
    **MEASUREMENTS,
}
_FINGERPRINT = "fingerprint.json"
_NEW = "new"  # in the work folder: results that are to replace others
_RENEWING = "renewing"  # a mark in the work folder: some results of a finished run are made anew


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
        It holds a run and `existing` is "refuse", none that is finished and `existing` is "update"
        or "refit", or anything else.
    """

    def __init__(self, path: Path, existing: Existing) -> None:
        self.path = path
        self._work = path / WORK_FOLDER
        self._existing = existing
        self.store = self._work / "features"
        self._check_contents()
        with suppress(OSError):
            self._work.rmdir()  # of a run that was killed before it began: if it is empty
        if existing is not Existing.REFUSE and (self._work / WHOLE).exists():
            self._publish()  # where a run was killed while it did so
        elif self._is_renewing():
            remove(self._work / _NEW)  # what it was to renew is found again; descriptions stay
        self._check_goes_on()

    @property
    def updates(self) -> bool:
        """Whether the images may be others than those of the run in the folder."""
        return self._existing is Existing.UPDATE

    @property
    def place(self) -> Path:
        """Where this run writes its results; known after `begin`."""
        new = self._work / _NEW
        return new if new.exists() else self.path

    @property
    def begun(self) -> Any:
        """The fingerprint of the run that goes on; an empty one where a new one begins."""
        if self._existing in (Existing.REFUSE, Existing.OVERWRITE):
            return {}
        if self._is_begun():
            return _read_json(self._work / _FINGERPRINT)
        return read_run(self.path).get("fingerprint", {})

    def finished(self, fingerprint: dict[str, Any]) -> dict[str, Any] | None:
        """Return the `run.json` of the run to resume, if that has come to its end, else None.

        Raises
        ------
        OutputError
            It was another run.
        """
        run = read_run(self.path)
        goes_on = self._existing in (Existing.RESUME, Existing.UPDATE)
        if not goes_on or self._is_begun() or not run:
            return None
        check_same(self.path, run["fingerprint"], fingerprint)
        return run

    def refuse_as_inputs(self, photos: Iterable[Path | str]) -> None:
        """Raise `OutputError` where a photo is a result in this folder: it would be replaced."""
        here = self.path.absolute()
        inside = (photo for photo in photos if str(photo).startswith(f"{here}{os.sep}"))
        if (first := next(inside, None)) is None:
            return
        ours = _Hashes(map(str, _listed(here)))
        for photo in chain([first], inside):
            if str(photo) in ours:
                raise OutputError(
                    f"{photo} is a result in {self.path}, which this run would replace; copy it "
                    "elsewhere, or choose another --out"
                )

    def begin(self, fingerprint: dict[str, Any]) -> None:
        """Make room, and keep what an unfinished run has done if that is resumed.

        Parameters
        ----------
        fingerprint
            All that decides the results except the images; what resuming compares.

        Raises
        ------
        OutputError
            The run to resume was another one, or its leftovers cannot be removed.
        """
        begun = _read_json(self._work / _FINGERPRINT)
        if begun and self._existing is Existing.RESUME:
            check_same(self.path, begun, fingerprint)
        elif begun != fingerprint or self._existing is not Existing.REFIT:
            # Those of an unfinished run may be inputs of this one, like those of a finished run.
            older = bool(read_run(self.path)) or any(True for _ in _listed(self.path))
            remove(self._work)
            if older or (self.path / MODEL_FILE).exists():
                (self._work / _NEW).mkdir(parents=True)
        # Before anything else goes: whenever this is killed, the rest shows as an unfinished run.
        write_json(self._work / _FINGERPRINT, fingerprint)
        for file in _per_run(self.place):
            remove(file)
        _remove_unlisted(self.place, share_of(fingerprint) is not None)
        for leftover in list(self.path.rglob(LEFTOVERS)):
            remove(leftover)

    def begin_to_renew(self) -> None:
        """Make room for some results of a finished run that are made anew; raises `OutputError`.

        What an earlier renewal has described is kept.
        """
        if not self._is_renewing():
            remove(self._work)
            self._work.mkdir(parents=True)
            (self._work / _RENEWING).write_text(f"--{self._existing.value}")
        (self._work / _NEW).mkdir()

    def drop_renewal(self) -> None:
        """Forget a renewal that was begun where nothing is left to renew."""
        if is_unfinished(self.path):
            self._drop()

    @contextmanager
    def sparing_older(self) -> Iterator[None]:
        """Leave older results as they were where a run finds no input that would give new ones."""
        try:
            yield
        except InputError:
            if self.place != self.path:  # what is left of an unfinished run stays marked as such
                remove(self._work if read_run(self.path) else self._work / _NEW)
            raise

    def finish(self, run: dict[str, Any]) -> None:
        """Write `run.json`, the mark of a finished run, and drop the work folder."""
        write_json(self.place / RUN_FILE, run)
        if self.place != self.path:
            (self._work / WHOLE).touch()
            self._publish()
        else:
            self._drop()

    def _publish(self) -> None:
        """Let the new results take the place of the old ones; may be killed and called again."""
        new = self._work / _NEW

        def remove_old() -> None:
            self._refuse_foreign(new)
            _remove_results(self.path)

        move_in(
            self._work,
            ((file, self.path / file.relative_to(new)) for file in _in_order(new)),
            remove_old,
            f"cannot replace the results in {self.path}",
            f"the new ones are in {new}, and --resume goes on",
        )
        self._drop()

    def _refuse_foreign(self, new: Path) -> None:
        """Raise `OutputError` where a new result would take the place of what is no result."""
        for path in foreign_files(self.path):
            # A review is a person's; what a refit writes is what stays true of it.
            if path != self.path / REVIEW_FILE and (new / path.relative_to(self.path)).exists():
                raise OutputError(
                    f"{path} is none of the results that are replaced; move it away, and --resume "
                    "goes on"
                )

    def _is_begun(self) -> bool:
        """Return whether there is an unfinished run, that is no renewal of a finished one."""
        return is_unfinished(self.path) and not self._is_renewing()

    def _is_renewing(self) -> bool:
        return (self._work / _RENEWING).exists()

    def _drop(self) -> None:
        # In one step: half a work folder would pass for an unfinished run.
        dropped = self.path / DROPPED_FOLDER
        os.rename(self._work, dropped)
        shutil.rmtree(dropped, ignore_errors=True)

    def _check_contents(self) -> None:
        names = contents(self.path)
        if not names:
            return
        if WORK_FOLDER not in names and "fingerprint" not in read_run(self.path):
            raise OutputError(f"{self.path} holds files of something else; choose another --out")
        if WORK_FOLDER not in names and self._existing is Existing.REFUSE:
            raise OutputError(
                f"{self.path} holds a finished run; pass --overwrite to replace it or another --out"
            )
        if self._existing is Existing.REFUSE:
            raise OutputError(
                f"{self.path} holds an unfinished run; pass {self._again} to go on with it, "
                "--overwrite to start again, or another --out"
            )

    @property
    def _again(self) -> str:
        """The option that goes on with what is unfinished."""
        if self._is_renewing():
            return (self._work / _RENEWING).read_text()
        refits = "refit" in _read_json(self._work / _FINGERPRINT)
        return f"--{(Existing.REFIT if refits else Existing.RESUME).value}"

    def _check_goes_on(self) -> None:
        if self._existing in (Existing.REFUSE, Existing.OVERWRITE):
            return
        if self._is_begun() and self._again != f"--{self._existing.value}":
            raise OutputError(
                f"{self.path} holds an unfinished run; go on with {self._again} first, or start "
                "again with --overwrite"
            )
        if self._existing is not Existing.RESUME and not read_run(self.path):
            raise OutputError(f"{self.path} holds no run to update; leave --update out")


def image_files(folder: Path, stem: str, instances: bool) -> list[Path]:
    """Return where an image's own files are in an output folder, there or not.

    Without `instances`, what lies where those would be is somebody else's.
    """
    kinds = (kind for kind in PER_IMAGE if instances or kind != INSTANCES_FOLDER)
    return [folder / kind / f"{stem}{PER_IMAGE[kind]}" for kind in kinds]


def link_image(image: Recorded, source: Path, target: Path) -> None:
    """Put an image's own files into a second output folder, without a copy where possible."""
    has_objects = image.objects is not None
    files, seconds = (image_files(f, image.stem, has_objects) for f in (source, target))
    for file, second in zip(files, seconds, strict=True):
        if file.is_file() and not second.exists():
            link(file, second)


def foreign_files(folder: Path) -> Iterator[Path]:
    """Yield what is in an output folder and is none of a run's results."""
    per_run = {folder / RUN_FILE, folder / RESULTS_FILE, *_per_run(folder)}
    per_image = _Hashes(map(str, _listed(folder)))
    for file in files_below(folder):
        path = Path(file)
        ours = path in per_run or str(path) in per_image
        if not ours and not path.name.startswith(".partdino"):
            yield path


class _Hashes:
    """Texts of which there may be millions, told from others by 64 bits: 8 bytes each."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._sorted = np.frombuffer(array("q", map(hash, texts)), np.int64)
        self._sorted.sort()

    def __contains__(self, text: str) -> bool:
        wanted = hash(text)
        place = int(self._sorted.searchsorted(wanted))
        return wanted in self._sorted[place : place + 1]


def read_run(folder: Path) -> dict[str, Any]:
    """Return the `run.json` of a finished run; an empty one where there is none."""
    return _read_json(folder / RUN_FILE)


def is_unfinished(folder: Path) -> bool:
    """Return whether a run was begun in a folder and did not come to its end."""
    return (folder / WORK_FOLDER).exists()


def read_finished_run(folder: Path) -> dict[str, Any]:
    """Return the `run.json` of a finished run that has a list of results.

    Raises
    ------
    InputError
        There is no such run, or it is not finished.
    """
    recover_folder(folder)
    if is_unfinished(folder):
        raise InputError(
            f"{folder} holds an unfinished run; finish it with partdino segment --resume"
        )
    document = read_run(folder)
    if "fingerprint" not in document or not (folder / RESULTS_FILE).is_file():
        raise InputError(
            f"{folder} holds no finished run; name the --out folder of partdino segment"
        )
    return document


class RunVersion:
    """Which run an output folder holds, before anything of it is read.

    Parameters
    ----------
    folder
        The output folder.
    """

    def __init__(self, folder: Path) -> None:
        recover_folder(folder)
        self._folder, self._version = folder, self._now(folder)

    def check(self) -> None:
        """Raise `InputError` where another run is there now: what was read is of both."""
        if self._now(self._folder) != self._version:
            raise InputError(f"{self._folder} was replaced while it was read; run this again")

    @staticmethod
    def _now(folder: Path) -> str:
        return file_version(folder / RUN_FILE)  # it goes first and comes last


def clear_images(folder: Path) -> None:
    """Remove the results of single images, and no other file; raises `OutputError`."""
    for file in _listed(folder):
        remove(file)
    for kind in PER_IMAGE:
        for place, _, _ in os.walk(folder / kind, topdown=False):
            with suppress(OSError):  # of one that holds what is somebody else's
                os.rmdir(place)
    remove(folder / RESULTS_FILE)


def _remove_results(folder: Path) -> None:
    """Remove the results of a run, and no other file; `run.json` first, the list of files last."""
    for file in (folder / RUN_FILE, *_per_run(folder)):
        remove(file)
    clear_images(folder)


def _per_run(folder: Path) -> Iterator[Path]:
    """Yield the files that cover a whole run, there or not, but none of somebody else."""
    yield from (folder / name for name in _EVERY_RUN)
    yield from (folder / name for name, mark in _SOME_RUNS.items() if mark.may_go(folder / name))


def _remove_unlisted(folder: Path, instances: bool) -> None:
    """Remove the files of the image that a run was killed at; raises `OutputError`."""
    with suppress(OSError):
        stem = os.fsdecode((folder / CURRENT_FILE).read_bytes())
        files = image_files(folder, stem, instances) if is_safe_name(stem) else []
        if set(files).isdisjoint(_listed(folder)):
            for file in files:
                remove(file)


def _listed(folder: Path) -> Iterator[Path]:
    """Yield the files of all images that a run has listed, as far as its list can be read."""
    results = folder / RESULTS_FILE
    with suppress(OutputError):
        for result in read_results(results) if results.is_file() else ():
            yield from image_files(folder, result.stem, result.objects is not None)


def _in_order(new: Path) -> Iterator[Path]:
    """Yield the files to move: the list of all, and the mark of a finished run, last.

    Each is to be moved before the next one is asked for.
    """
    for file in _listed(new):
        if file.is_file():
            yield file
    last = [new / RESULTS_FILE, new / RUN_FILE]
    yield from (path for path in map(Path, files_below(new)) if path not in last)
    yield from (path for path in last if path.exists())


def _read_json(path: Path) -> dict[str, Any]:
    """Return a JSON object; an empty one where there is none, or a file of something else."""
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
