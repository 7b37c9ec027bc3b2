"""`partdino fit`: a feature store to a fitted model."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from partdino.describe.settling import settle_device, settled_of
from partdino.describe.workers import stage_workers
from partdino.engine.pool import Pool
from partdino.errors import ConfigError
from partdino.files import check_writable, remove
from partdino.options import (
    FITTING_OPTIONS,
    NUMBERS,
    OPTION_NAMES,
    Options,
    SettledOptions,
    refuse_unknown,
    validate,
)
from partdino.output_marks import CURVE, MODEL
from partdino.parts.fitting import fit_model
from partdino.parts.model import PartModel
from partdino.parts.model_file import save_model
from partdino.runs.reporting import Reporter, RunLog
from partdino.runs.resume import check_replaceable
from partdino.runs.store import FeatureStore, Header, open_stores
from partdino.runs.writers import curve_files, write_parts_curve

UNSTEADY = 0.6  # steadiness below which people are warned: a third of the object changes its part


def make_model(
    stores: Sequence[Path],
    out: Path,
    given: Mapping[str, Any],
    reporter: Reporter,
    overwrite: bool = False,
) -> PartModel:
    """Fit the parts of a store and write the model.

    Parameters
    ----------
    stores
        The store, or those of all shards.
    out
        The model file. The curve that a range of parts is chosen by lies beside it.
    given
        Values of `FITTING_OPTIONS`, the device, workers and engine by name; others are left out of
        account.
    reporter
        Where to say what happens.
    overwrite
        Whether a file in the way is replaced.

    Raises
    ------
    PartDinoError
        There is no model.
    """
    header = Header.read(stores[0])
    asked = _options(header, given)
    options = settled_of(asked)
    curve = out.with_name(f"{out.stem}_curve")
    check_replaceable(out, MODEL, overwrite)
    for file in curve_files(curve):
        check_replaceable(file, CURVE[file.suffix], overwrite)
    check_writable(out.parent)
    if options.device != "cpu":
        from partdino.describe.devices import usable_device

        usable_device(options.device)
    workers = options.workers if options.fit_on == "all" else 0
    with stage_workers(workers, options.engine, options.device, reporter.warn) as pool:
        model = fit_store(open_stores(stores), asked.parts, options, RunLog(reporter), pool)
    save_model(model, out)
    if model.curve is None:  # what is there is of the model that was replaced
        for file in curve_files(curve):
            remove(file)
    write_parts_curve(curve, model.curve)
    return model


def fit_store(
    store: FeatureStore,
    asked: int | str,
    options: SettledOptions,
    log: RunLog,
    pool: Pool | None,
) -> PartModel:
    """Fit the parts of a store; see `partdino.parts.fitting.fit_models`."""
    start = time.perf_counter()
    sha256, watch = store.header.weights["sha256"], log.reporter.progress
    model = fit_model(store, store.keys, asked, options, sha256, pool, watch)
    log.seconds["fit"] = time.perf_counter() - start
    found = len(model.parts)
    if found < model.options.parts:
        log.reporter.warn(
            f"there are only {found} distinct foreground cells for {model.options.parts} parts"
        )
    if model.curve is not None:
        log.reporter.say(f"Parts: {model.curve.best}, the best of {model.curve.span}.")
        for doubt in model.curve.doubts:
            log.reporter.warn(doubt)
    if model.steadiness is not None and model.steadiness < UNSTEADY:
        log.reporter.warn(
            f"the parts are not steady: two halves of what speaks for them agree at "
            f"{model.steadiness:.2f} of 1, so with another --seed or some more photos they will be "
            "others; more photos or fewer --parts help"
        )
    return model


def _options(header: Header, given: Mapping[str, Any]) -> Options:
    refuse_unknown(given, (*OPTION_NAMES, NUMBERS), "options")
    values = {name: value for name, value in given.items() if name in FITTING_OPTIONS}
    own = "masks" if header.options["masks"] else None
    if (asked := values.get("foreground", own)) != own and "masks" in (asked, own):
        raise ConfigError(
            f"--foreground {asked}: masks are read by partdino features --masks, "
            f"and these features were made {'with' if own else 'without'} them"
        )
    if own:
        values["foreground"] = own
    # Those of the features may be of another machine.
    values["device"] = settle_device(given.get("device", "auto"))
    values["workers"] = given.get("workers", "auto")
    values["engine"] = given.get("engine", "local")
    values[NUMBERS] = {**given.get(NUMBERS, {}), **header.numbers}
    for name, number in given.get(NUMBERS, {}).items():
        if values[NUMBERS][name] != number:
            raise ConfigError(
                f"numbers.{name} is {number}, and the features were made with "
                f"{values[NUMBERS][name]}: make them anew, or leave it out"
            )
    return validate({**header.options, **values})
