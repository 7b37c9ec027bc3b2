"""`partdino eval`: one benchmark, from its folder to scores.

::

    data set --> describe --> fit --> label --> score --> results
                 (cache)              (or --labels)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from partdino.describe.settling import settle
from partdino.engine.outcomes import Outcome, run_stage
from partdino.errors import ConfigError, InputError
from partdino.evaluation.benchmarks import Benchmark
from partdino.evaluation.datasets import Sample
from partdino.evaluation.eval_options import REPLACED, EvalOptions
from partdino.evaluation.methods.cache import cache_settings, default_folder, open_cache
from partdino.evaluation.methods.describing import describe_samples
from partdino.evaluation.methods.fitting import FittedMethods, Variant, fit_methods
from partdino.evaluation.methods.foregrounds import FittedForegrounds, fit_foregrounds
from partdino.evaluation.results.document import results_document
from partdino.evaluation.run import EvalRun, choose_splits
from partdino.evaluation.scoring.foreground_scorer import ForegroundScorer
from partdino.evaluation.scoring.keypoint_scorer import KeypointFitter, KeypointScorer
from partdino.evaluation.scoring.label_maps import LabelFolder
from partdino.evaluation.scoring.pixel_scorer import PixelScorer
from partdino.evaluation.scoring.tally import Maps, Tally
from partdino.options import Options, SettledOptions
from partdino.runs.reporting import Reporter, RunLog
from partdino.runs.store import DescriptionStore

_Predict: TypeAlias = Callable[[Sample], Iterable[tuple[Variant, Maps]]]


def evaluate(
    benchmark: Benchmark,
    root: Path,
    options: EvalOptions,
    method: Options,
    reporter: Reporter,
    labels: Path | None = None,
    cache: Path | None = None,
    partial: bool = False,
) -> dict[str, Any]:
    """Score methods, or label maps made by any tool, on a benchmark.

    Parameters
    ----------
    benchmark
        Which one, of `partdino.evaluation.benchmarks.BENCHMARKS`.
    root
        Its folder.
    options, method
        See `validate_evaluation`.
    reporter
        Where to say what happens.
    labels
        Score the label maps in this folder (see `LabelFolder`); the methods are then left out.
    cache
        Where descriptions are kept between runs; None is a folder of the user's cache.
    partial
        With `labels`: score the images that have a label map, and mark the results.

    Returns
    -------
    dict
        The content of ``results.json``.

    Raises
    ------
    PartDinoError
        Nothing could be done at all. Single images that fail are left out and listed.
    """
    start = time.perf_counter()
    dataset = benchmark.open(root, options)
    if options.foreground == "ground-truth" and dataset.kind != "pixels":
        raise ConfigError(f"{benchmark.name} has keypoints, no masks: --foreground auto or none")
    if options.foreground != "auto" and benchmark.kind == "foreground":
        raise ConfigError(
            f"{benchmark.name} scores the foreground that is found: --foreground auto"
        )
    for line in dataset.identity.warnings:
        reporter.warn(line)
    splits = choose_splits(dataset, options, method.fit_on, root)
    run = EvalRun(benchmark, dataset.identity, options, splits, RunLog(reporter))
    if labels is None:
        scores, configuration = _score_methods(run, method, cache or default_folder())
    else:
        run, scores, configuration = _score_labels(run, labels, partial)
    if not any(scores.values()):
        reason = next(iter(run.log.failures.items()), ("no image", "nothing to score"))
        raise InputError(f"no image could be scored; the first: {': '.join(reason)}")
    run.log.seconds["total"] = time.perf_counter() - start
    return results_document(run, scores, configuration)


def _score_labels(
    run: EvalRun, labels: Path, partial: bool
) -> tuple[EvalRun, dict[Variant, dict[str, float]], dict[str, Any]]:
    """Return the run of the images that have a label map, their scores, and what they are of."""
    wanted = [*run.splits["regression"], *run.splits["score"]]
    folder = LabelFolder(labels, wanted, partial)
    configuration: dict[str, Any] = {"labels": str(labels)}
    if folder.missing:
        of = len({sample.path for sample in wanted})
        line = (
            f"partial: label maps of {of - len(folder.missing)} of {of} images; "
            "not comparable with scores of all"
        )
        run.log.reporter.warn(line)
        configuration["partial"] = {"scored": of - len(folder.missing), "images": of}
        identity = replace(run.dataset, notes=(*run.dataset.notes, line))
        splits = {name: [s for s in each if s in folder] for name, each in run.splits.items()}
        run = replace(run, dataset=identity, splits=splits)
    anything = Variant("labels", None, None)
    scores = _score(run, lambda sample: [(anything, folder(sample))])
    if folder.open:
        run.log.reporter.warn(
            f"{len(folder.open)} label maps are about square, and their photos are turned by EXIF "
            f"(the first: {min(folder.open)}): they are taken to lie as the annotations do"
        )
    return run, {Variant("labels", folder.num_parts, None): scores.get(anything, {})}, configuration


def _score_methods(
    run: EvalRun, method: Options, cache_folder: Path
) -> tuple[dict[Variant, dict[str, float]], dict[str, Any]]:
    """Return the scores, and what the results say of the method."""
    none = run.labelled_only or run.options.foreground == "none"
    asked = replace(method, foreground="none" if none else "auto")
    backbone, options, notes = settle(asked, run.log.reporter.say, run.log.reporter.warn)
    settings = cache_settings(options, backbone, run.dataset.sha256 if run.labelled_only else None)
    cache = open_cache(cache_folder, run.dataset.name, settings)
    samples = [sample for split in run.splits.values() for sample in split]
    keys = describe_samples(samples, cache, backbone, options, run.labelled_only, run.log)
    run = replace(
        run,
        splits={
            name: [sample for sample in split if sample.path in keys]
            for name, split in run.splits.items()
        },
    )
    fit_keys = [keys[sample.path] for sample in run.splits["fit"]]
    fitted = _fit(run, cache, fit_keys, options, backbone.weights.sha256)

    def predict(sample: Sample) -> Iterator[tuple[Variant, Maps]]:
        description = cache.read(keys[sample.path])
        for methods in fitted:
            for variant, (labels, parts) in methods.label(description):
                if run.labelled_only and parts is not None:
                    labels, parts = parts, None  # all foreground: those at its border, too
                yield variant, (labels, parts)

    identity = {"backbone": backbone.name, **vars(backbone.weights)}
    values = {k: v for k, v in options.values().items() if k not in REPLACED}
    return _score(run, predict), {"options": values, "weights": identity, "notes": notes}


def _fit(
    run: EvalRun, cache: DescriptionStore, keys: Sequence[str], options: SettledOptions, sha256: str
) -> Sequence[FittedMethods | FittedForegrounds]:
    """Fit all methods with each seed, or all ways to find the foreground."""
    start = time.perf_counter()
    if run.benchmark.kind == "foreground":
        foregrounds = fit_foregrounds(cache, keys, options)
        run.log.seconds["fit"] = time.perf_counter() - start
        return [foregrounds]
    parts = list(dict.fromkeys(run.options.parts or run.benchmark.parts))
    fitted = []
    with run.log.reporter.progress("fit", run.options.seeds) as advance:
        for seed in range(run.options.seeds):
            chosen = replace(options, seed=seed)
            fitted.append(fit_methods(run.options.methods, parts, cache, keys, chosen, sha256))
            advance()
    run.log.seconds["fit"] = time.perf_counter() - start
    return fitted


def _score(run: EvalRun, predict: _Predict) -> dict[Variant, dict[str, float]]:
    """Fit the keypoint regression, where there is one, and score every variant."""
    scorers: Tally[Variant]
    if run.benchmark.kind == "pixels":
        scorers = Tally(lambda variant: PixelScorer(run.size, run.labelled_only))
    elif run.benchmark.kind == "foreground":
        scorers = Tally(lambda variant: ForegroundScorer())
    else:
        size = run.keypoint_size
        fitters: Tally[Variant] = Tally(lambda variant: KeypointFitter(size))
        _add(run, "regression", fitters, predict)
        regressions = {variant: fitter.fit() for variant, fitter in fitters.items()}
        scorers = Tally(lambda variant: KeypointScorer(size, regressions.get(variant)))
    _add(run, "score", scorers, predict)
    return {variant: scorer.compute() for variant, scorer in scorers.items()}


def _add(run: EvalRun, split: str, tally: Tally[Variant], predict: _Predict) -> None:
    """Add the images of a split to a tally; those that fail are booked and left out."""
    samples = run.splits[split]
    outcomes = (Outcome(sample.name, sample) for sample in samples)

    def measure(sample: Sample) -> dict[Variant, Any]:
        return tally.measure(sample, predict(sample))

    with run.log.reporter.progress(split, len(samples)) as advance:
        for outcome in run_stage(split, measure, outcomes):
            if run.log.note(outcome):
                tally.add(outcome.result)
            advance()
