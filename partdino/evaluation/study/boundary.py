"""``partdino study boundary``: are patches that straddle a boundary less decided about their part?

::

    images --> describe --> clusters of patches --> soft assignment --> entropy, confidence
       \\--> boundary map --> ridges --> interior or straddling? -----------> comparison
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from partdino.describe.boundaries import resolve_boundaries
from partdino.describe.settling import settle
from partdino.engine.outcomes import Outcome, run_stage
from partdino.errors import ConfigError, InputError
from partdino.evaluation.methods.cache import cache_settings, default_folder, open_cache
from partdino.evaluation.methods.describing import describe_missing
from partdino.evaluation.methods.fitting import fit_methods
from partdino.evaluation.methods.labellers import PatchLabeller
from partdino.evaluation.study.images import Collection, StudyImage, open_benchmark, open_photos
from partdino.evaluation.study.measure import Measure
from partdino.evaluation.study.patches import Patches
from partdino.evaluation.study.results import summarise, write_study
from partdino.evaluation.study.ridge_cache import RidgeCache
from partdino.evaluation.study.statistics import FEW
from partdino.evaluation.study.study_options import StudyOptions, validate_study
from partdino.files import refuse_inside
from partdino.options import Options, SettledOptions
from partdino.output_marks import STUDY
from partdino.runs.reporting import Reporter, RunLog
from partdino.runs.resume import check_free
from partdino.runs.store import DescriptionStore

if TYPE_CHECKING:
    from partdino.describe.features import Backbone

# The summary has the effect at each of these times --temperature; files and figure at the first.
_TEMPERATURES = (1.0, 0.5, 2.0)


def study_boundary(
    inputs: Sequence[Path],
    out: Path,
    given: Mapping[str, Any],
    reporter: Reporter,
    cache: Path | None = None,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Compare patches that straddle a boundary with those that don't.

    Parameters
    ----------
    inputs
        Folders, image files and lists of paths; with a benchmark, its folder alone.
    out
        Where ``patches.csv``, ``summary.*``, ``boundary.*`` and ``failures.csv`` are written.
    given
        Option values by name; see `validate_study`.
    reporter
        Where to say what happens.
    cache
        Where descriptions are kept between runs; None is a folder of the user's cache.
    overwrite
        Replace the results of an earlier study.

    Returns
    -------
    dict
        The content of ``summary.json``.

    Raises
    ------
    PartDinoError
        Nothing could be done at all. Single images that fail are left out and listed.
    """
    study, asked = validate_study(given)
    refuse_inside(cache, "--cache", *inputs)
    if study.benchmark is not None:
        refuse_inside(out, "--out", *inputs)
    check_free(out, STUDY, overwrite)
    collection = _open(inputs, out, study, asked.masks)
    log = RunLog(reporter)
    backbone, options = _settle(asked, reporter)
    settings = cache_settings(options, backbone, collection.annotations)
    store = open_cache(cache or default_folder(), collection.title, settings)
    images = _describe(collection.images, store, backbone, options, log)
    reporter.say("Clustering the patches.")
    measure = _fit(images, store, backbone, options, study)
    patches = _measure(images, measure, log)
    if (studied := len(np.unique(patches.image))) < FEW:
        reporter.warn(f"{studied} images are few: intervals over them are too narrow, or missing")
    document = {
        **_identity(collection, study, options, log),
        "weights": {"backbone": backbone.name, **vars(backbone.weights)},
        **summarise(patches, measure.temperatures, options.seed),
    }
    write_study(out, document, patches, [image.name for image in images], log.failures)
    return document


def _open(inputs: Sequence[Path], out: Path, study: StudyOptions, masks: Path | None) -> Collection:
    if study.benchmark is None:
        return open_photos(inputs, out, study, masks)
    if len(inputs) != 1:
        raise ConfigError(f"--benchmark takes one INPUT, its folder, not {len(inputs)}")
    return open_benchmark(study.benchmark, inputs[0], study)


def _settle(options: Options, reporter: Reporter) -> tuple[Backbone, SettledOptions]:
    if options.boundaries == "auto":  # never "none": there is nothing to study without
        options = replace(options, boundaries=resolve_boundaries()[0])
    backbone, settled, _ = settle(options, reporter.say, reporter.warn)
    return backbone, settled


def _describe(
    images: Sequence[StudyImage],
    store: DescriptionStore,
    backbone: Backbone,
    options: SettledOptions,
    log: RunLog,
) -> list[StudyImage]:
    """Describe what the store lacks; return the images that are described."""
    sources = {image.key: image.source for image in images}
    describe_missing(sources, store, backbone, options, log)
    described = [image for image in images if image.name not in log.failures]
    if not described:
        name, reason = next(iter(log.failures.items()))
        raise InputError(f"no image could be read; the first: {name}: {reason}")
    return described


def _fit(
    images: Sequence[StudyImage],
    store: DescriptionStore,
    backbone: Backbone,
    options: SettledOptions,
    study: StudyOptions,
) -> Measure:
    keys = [image.key for image in images]
    sha256 = backbone.weights.sha256
    fitted = fit_methods(("patch",), [study.parts], store, keys, options, sha256)
    (parts,) = fitted.labellers.values()
    assert isinstance(parts, PatchLabeller)
    return Measure(
        store=store,
        ridges=RidgeCache(store.folder, options),
        model=fitted.foreground,
        parts=parts,
        threshold=study.threshold,
        temperatures=tuple(study.temperature * factor for factor in _TEMPERATURES),
    )


def _measure(images: Sequence[StudyImage], measure: Measure, log: RunLog) -> Patches:
    """Put all images through the measure; those that fail are booked and left out."""
    tables = []
    outcomes = run_stage("study", measure, (Outcome(image.name, image) for image in images))
    with log.reporter.progress("patches", len(images)) as advance:
        for number, outcome in enumerate(outcomes):
            if log.note(outcome):
                tables.append(replace(outcome.result, image=outcome.result.image + number))
                if len(outcome.result) == 0:
                    log.without_foreground.append(outcome.name)
            advance()
    if not any(map(len, tables)):
        raise InputError("no patch is foreground in any image; try --foreground none")
    return Patches.join(tables)


def _identity(
    collection: Collection, study: StudyOptions, options: SettledOptions, log: RunLog
) -> dict[str, Any]:
    chosen = {k: str(v) if isinstance(v, Path) else v for k, v in vars(study).items()}
    return {
        "collection": collection.title,
        "options": {**options.values(), **chosen},
        "images": {
            "given": len(collection.images),
            "failed": len(log.failures),
            "without_foreground": log.without_foreground,
        },
    }
