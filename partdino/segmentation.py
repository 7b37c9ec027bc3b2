"""`partdino segment`: a collection of photos to part masks, from the inputs to the output folder.

::

    inputs --> describe --> fit --> label --> write
                 |          (or --model)
              (store)
"""

from __future__ import annotations

import hashlib
import platform
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import yaml

from partdino.config import RUNNING_OPTIONS, Options, validate
from partdino.description import Source, describe_images
from partdino.errors import InputError, ModelError, OutputNameError
from partdino.files import write_text
from partdino.fitting import fit_model
from partdino.flow import Outcome, through, worker_pool
from partdino.images import ImageFile, find_images, read_image
from partdino.labelling import label_image
from partdino.model import PartModel, load_model
from partdino.output_folder import MODEL_FILE, Existing, OutputFolder
from partdino.resolution import load_resolved, resolve
from partdino.result import PartSegmentation
from partdino.store import DescriptionStore
from partdino.version import __version__
from partdino.writers import OutputWriters, write_failures, write_parts_curve

if TYPE_CHECKING:
    from partdino.features import Backbone

_PHOTO_PIXELS = 1600 * 1600  # what overlays and contact sheets are drawn on


class Reporter(Protocol):
    """Where a run says what it does; `partdino.cli.console.Reporter` is one."""

    def say(self, message: str) -> None:
        """Tell something of interest."""

    def warn(self, message: str) -> None:
        """Tell something that may need action."""

    def progress(self, title: str, total: int) -> Any:
        """Return a context manager that yields a function to call once per finished image."""


@dataclass(frozen=True)
class Photo:
    """An image of the run.

    Attributes
    ----------
    name, path
        As `partdino.images.ImageFile`.
    key
        What its description is stored under: another one for another file of the same name, so
        that resuming with other photos than were begun with starts again with those.
    """

    name: str
    path: Path
    key: str

    @classmethod
    def of(cls, file: ImageFile) -> Photo:
        """Make one of a file, which may be missing: reading it will fail."""
        try:
            status = file.path.stat()
            version = f"{status.st_size} {status.st_mtime_ns}"
        except OSError:
            version = "missing"
        return cls(file.name, file.path, f"{file.name} {version}")


@dataclass
class RunLog:
    """What a run keeps account of, and says."""

    reporter: Reporter
    failures: dict[str, str] = field(default_factory=dict)
    without_foreground: list[str] = field(default_factory=list)
    seconds: Counter = field(default_factory=Counter)

    def note(self, outcome: Outcome) -> bool:
        """Book an outcome; return whether it succeeded."""
        self.seconds.update(outcome.seconds)
        if outcome.failure is not None:
            self.fail(outcome.name, outcome.failure)
        return outcome.failure is None

    def fail(self, name: str, reason: str) -> None:
        """Book an image that has no result."""
        self.failures[name] = reason
        self.reporter.warn(f"{name}: {reason}")


def segment(
    inputs: Sequence[Path],
    out: Path,
    given: Mapping[str, Any],
    reporter: Reporter,
    model_file: Path | None = None,
    existing: Existing = Existing.REFUSE,
) -> dict[str, Any]:
    """Segment the parts in all images and write every output format.

    Parameters
    ----------
    inputs
        Folders, image files and lists of paths.
    out
        The output folder.
    given
        Option values by name; see `partdino.config.Options`.
    reporter
        Where to say what happens.
    model_file
        Label with this fitted model instead of fitting one.
    existing
        What to do if `out` holds results.

    Returns
    -------
    dict
        The content of `run.json`.

    Raises
    ------
    PartDinoError
        Nothing could be done at all. Single images that fail are booked in `failures.csv`.
    """
    start = time.perf_counter()
    options, model = _options_and_model(given, model_file)
    folder = OutputFolder(out, existing)
    photos = [Photo.of(file) for file in find_images(inputs, exclude=out)]
    options, notes = resolve(options)
    for note in notes:
        reporter.say(note)
    backbone, options = load_resolved(options)
    if model is not None:
        model.check_backbone(backbone)
    fingerprint = _fingerprint(options, backbone, model_file)
    folder.begin(fingerprint)
    log = RunLog(reporter)
    with worker_pool(options.workers) as pool:
        described = _describe(photos, folder.store, backbone, options, pool, log)
        if not described:
            raise _all_failed(out, log)
        if model is None:
            model = _fit(folder.store, described, options, backbone, log)
            if model.curve is not None:
                write_parts_curve(out, model.curve)
        _label_and_write(described, folder, model, pool, log)
    asked, options = options.parts, replace(options, parts=model.options.parts)
    model.save(out / MODEL_FILE)
    write_failures(out, log.failures.items())
    write_text(out / "config.yaml", yaml.safe_dump(options.options(), sort_keys=False))
    run = {
        **_environment(backbone, model_file, notes),
        "fingerprint": fingerprint,
        "options": options.options(),
        "parts": {"asked": asked, "chosen": options.parts},
        "counts": {
            "images": len(photos),
            "labelled": len(photos) - len(log.failures),
            "failed": len(log.failures),
            "without_foreground": len(log.without_foreground),
        },
        "without_foreground": log.without_foreground,
        "seconds": {stage: round(value, 3) for stage, value in log.seconds.items()},
        "seconds_total": round(time.perf_counter() - start, 3),
    }
    folder.finish(run)
    return run


def _options_and_model(
    given: Mapping[str, Any], model_file: Path | None
) -> tuple[Options, PartModel | None]:
    if model_file is None:
        return validate(given), None
    running = {name: value for name, value in given.items() if name in RUNNING_OPTIONS}
    model = load_model(model_file, running)
    for name, value in vars(validate({**model.options.options(), **given})).items():
        if name in given and value not in (getattr(model.options, name), "auto"):
            raise ModelError(
                f"{model_file} was fitted with {name} {getattr(model.options, name)}, "
                f"not {value}; leave it out or fit anew"
            )
    return model.options, model


def _fingerprint(options: Options, backbone: Backbone, model_file: Path | None) -> dict[str, Any]:
    values = options.options()
    method = {name: value for name, value in values.items() if name not in RUNNING_OPTIONS}
    sha256 = None if model_file is None else hashlib.sha256(model_file.read_bytes()).hexdigest()
    return {
        **method,
        "masks": values["masks"],
        "version": __version__,
        "weights_sha256": backbone.weights.sha256,
        "model_sha256": sha256,
    }


def _describe(
    photos: Sequence[Photo],
    store: DescriptionStore,
    backbone: Backbone,
    options: Options,
    pool: Executor | None,
    log: RunLog,
) -> list[Photo]:
    """Describe what the store lacks; return the photos that are described."""
    missing = [photo for photo in photos if photo.key not in store]
    if len(missing) < len(photos):
        log.reporter.say(f"Resuming: {len(photos) - len(missing)} images are described already.")
    outcomes = describe_images(
        (Source(photo.name, photo.path) for photo in missing), backbone, options, pool
    )
    with log.reporter.progress("features", len(missing)) as advance:
        for photo, outcome in zip(missing, outcomes, strict=True):
            if log.note(outcome):
                store.write(photo.key, outcome.value)
            advance()
    return [photo for photo in photos if photo.name not in log.failures]


def _all_failed(out: Path, log: RunLog) -> InputError:
    write_failures(out, log.failures.items())
    name, reason = next(iter(log.failures.items()))
    return InputError(
        f"none of the {len(log.failures)} images could be read ({out / 'failures.csv'}); "
        f"the first: {name}: {reason}"
    )


def _fit(
    store: DescriptionStore,
    photos: Sequence[Photo],
    options: Options,
    backbone: Backbone,
    log: RunLog,
) -> PartModel:
    start = time.perf_counter()
    keys = [photo.key for photo in photos]
    model = fit_model(store, keys, options, backbone.weights.sha256)
    log.seconds["fit"] = time.perf_counter() - start
    found = len(model.parts.centroids)
    if found < model.options.parts:
        log.reporter.warn(
            f"there are only {found} distinct foreground regions for {model.options.parts} parts"
        )
    if model.curve is not None:
        log.reporter.say(f"Parts: {model.options.parts}, the best of {options.parts}.")
    return model


def _label_and_write(
    photos: Sequence[Photo],
    folder: OutputFolder,
    model: PartModel,
    pool: Executor | None,
    log: RunLog,
) -> None:
    writers = OutputWriters(folder.path)
    label = partial(_label, store=folder.store, model=model)
    outcomes = through("label", label, (Outcome(photo.name, photo) for photo in photos), pool)
    with log.reporter.progress("labels", len(photos)) as advance:
        for outcome in outcomes:
            if log.note(outcome):
                _write(*outcome.value, writers, log)
            advance()
    writers.close()
    if log.without_foreground:
        some = ", ".join(log.without_foreground[:3])
        log.reporter.warn(
            f"no foreground in {len(log.without_foreground)} images (run.json): {some}"
        )


def _label(
    photo: Photo, store: DescriptionStore, model: PartModel
) -> tuple[PartSegmentation, np.ndarray]:
    result = label_image(photo.name, store.read(photo.key), model)
    return result, read_image(photo.path, max_pixels=_PHOTO_PIXELS).pixels


def _write(
    result: PartSegmentation, image: np.ndarray, writers: OutputWriters, log: RunLog
) -> None:
    start = time.perf_counter()
    try:
        writers.add(result, image)
    except OutputNameError as error:  # this image's alone: what else cannot be written ends the run
        log.fail(result.name, str(error))
    else:
        if not result.foreground_found:
            log.without_foreground.append(result.name)
    log.seconds["write"] += time.perf_counter() - start


def _environment(backbone: Backbone, model_file: Path | None, notes: list[str]) -> dict[str, Any]:
    import torch

    return {
        "version": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "notes": notes,
        "weights": {
            "backbone": backbone.name,
            "source": backbone.weights.source,
            "sha256": backbone.weights.sha256,
        },
        "model": None if model_file is None else str(model_file),
    }
