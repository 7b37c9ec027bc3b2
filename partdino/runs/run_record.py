"""What a finished run says of itself: `run.json`, `config.yaml` and `failures.csv`."""

from __future__ import annotations

import platform
import time
from collections.abc import Collection, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import yaml

from partdino.files import write_text
from partdino.options import FITTING_OPTIONS, NUMBERS, OPTION_NAMES
from partdino.parts.model import PartModel
from partdino.runs.folder import CONFIG_FILE
from partdino.runs.reporting import RunLog
from partdino.runs.shard import Shard
from partdino.runs.store import Header
from partdino.runs.writers import write_failures
from partdino.version import __version__


def run_options(describing: Mapping[str, Any], model: PartModel) -> dict[str, Any]:
    """Return every option of a run: those of the features and those of the fit."""
    values = {**describing, **{name: getattr(model.options, name) for name in FITTING_OPTIONS}}
    return {name: values[name] for name in OPTION_NAMES}


def write_run_tables(
    out: Path, describing: Mapping[str, Any], model: PartModel, images: Collection[str], log: RunLog
) -> None:
    """Write `failures.csv`, in the order of the images, and `config.yaml`; raises `OutputError`."""
    some = images if log.failures else ()
    write_failures(out, ((name, log.failures[name]) for name in some if name in log.failures))
    options = run_options(describing, model)
    if changed := model.options.numbers.changed:
        options[NUMBERS] = changed
    write_text(out / CONFIG_FILE, yaml.safe_dump(options, sort_keys=False))


def run_document(
    header: Header,
    model: PartModel,
    fingerprint: Mapping[str, Any],
    model_file: Path | None,
    shard: Shard,
    images: Collection[str],
    log: RunLog,
) -> dict[str, Any]:
    """Return what `run.json` holds."""
    return {
        "version": __version__,
        "python": platform.python_version(),
        "torch": version("torch"),
        "notes": header.notes,
        "weights": header.weights,
        "model": None if model_file is None else str(model_file),
        "fingerprint": dict(fingerprint),
        "options": run_options(header.options, model),
        "numbers": model.options.numbers.values,
        "shard": str(shard),
        "parts": {**model.counts(), **_named(model)},
        **run_counts(len(images), log),
        "seconds": {stage: round(value, 3) for stage, value in log.seconds.items()},
        "seconds_total": round(time.perf_counter() - log.start, 3),
    }


def _named(model: PartModel) -> dict[str, Any]:
    """Return what parts are called, where a person has named them."""
    if model.naming is None:
        return {}
    named = zip(model.naming.names, model.naming.colours, strict=True)
    each = {str(part): {"name": n, "colour": c} for part, (n, c) in enumerate(named, start=1)}
    return {"named": each}


def run_counts(images: int, log: RunLog) -> dict[str, Any]:
    """Return what `run.json` says of so many images."""
    return {
        "counts": {
            "images": images,
            "labelled": images - len(log.failures),
            "failed": len(log.failures),
            "without_foreground": len(log.without_foreground),
            "without_photo": len(log.without_photo),
        },
        "without_foreground": log.without_foreground,
        "without_photo": log.without_photo,
        "not_read": log.unread,
    }
