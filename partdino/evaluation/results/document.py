"""The results of an evaluation as one document, and the files that are written of it."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partdino.evaluation.results.published import published_beside
from partdino.evaluation.results.tables import markdown
from partdino.files import write_csv, write_json, write_text
from partdino.version import __version__

if TYPE_CHECKING:
    from partdino.evaluation.methods.fitting import Variant
    from partdino.evaluation.run import EvalRun

RESULTS_FILE = "results.json"
FORMAT = 1


def results_document(
    run: EvalRun, scores: Mapping[Variant, Mapping[str, float]], configuration: Mapping[str, Any]
) -> dict[str, Any]:
    """Put together the content of ``results.json``.

    Parameters
    ----------
    run
        The evaluation.
    scores
        Percentages by variant.
    configuration
        What made the label maps: options, weights and notes of the method, or the folder.

    Returns
    -------
    dict
        What JSON can hold. Spread is the standard deviation over the seeds (n - 1), None for one.
    """
    rows = [{**vars(variant), "scores": dict(values)} for variant, values in scores.items()]
    published = published_beside(run.benchmark.name, {row["parts"] for row in rows})
    obstacles = _obstacles(run)
    return {
        "format": FORMAT,
        "version": __version__,
        "benchmark": run.benchmark.name,
        "dataset": {
            **vars(run.dataset),
            "complete": run.dataset.complete,
            "warnings": list(run.dataset.warnings),
            "used": {
                name: sum(sample.name not in run.log.failures for sample in samples)
                for name, samples in run.splits.items()
            },
        },
        "protocol": _protocol(run),
        "comparable": not obstacles,
        "not_comparable_because": obstacles,
        **configuration,
        "scores": rows,
        "summary": summarise(rows),
        "published": [vars(entry) for entry in published],
        "failures": [{"name": name, "reason": why} for name, why in run.log.failures.items()],
        "seconds": {stage: round(value, 3) for stage, value in run.log.seconds.items()},
    }


def summarise(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return mean and spread over the seeds for each method and number of parts, in order."""
    groups: dict[tuple[str, int | None], list[Mapping[str, float]]] = {}
    for row in rows:
        groups.setdefault((row["method"], row["parts"]), []).append(row["scores"])
    return [
        {"method": method, "parts": parts, "seeds": len(runs), "scores": _mean_and_spread(runs)}
        for (method, parts), runs in groups.items()
    ]


def write_results(out: Path, document: Mapping[str, Any]) -> None:
    """Write ``results.csv`` (a line for each seed), ``results.md`` and, last, ``results.json``."""
    rows = document["scores"]
    names = list(dict.fromkeys(name for row in rows for name in row["scores"]))
    write_csv(
        out / "results.csv",
        ["benchmark", "method", "parts", "seed", *names],
        (
            [document["benchmark"], row["method"], row["parts"], row["seed"]]
            + [row["scores"].get(name, "") for name in names]
            for row in rows
        ),
    )
    write_text(out / "results.md", markdown(document))
    write_json(out / RESULTS_FILE, document)


def _mean_and_spread(runs: Sequence[Mapping[str, float]]) -> dict[str, dict[str, float | None]]:
    summary = {}
    for name in dict.fromkeys(name for run in runs for name in run):
        values = [run[name] for run in runs if name in run]
        spread = statistics.stdev(values) if len(values) > 1 else None
        summary[name] = {"mean": statistics.fmean(values), "spread": spread}
    return summary


def _protocol(run: EvalRun) -> dict[str, Any]:
    chosen = {name: getattr(run.options, name) for name in run.benchmark.protocol}
    size = "size" if run.benchmark.kind == "keypoints" else "eval_size"
    chosen[size] = run.size or "full"
    general = {
        "foreground": run.options.foreground,
        "labelled_only": run.labelled_only,
        "limit": run.options.limit,
    }
    return {key: str(v) if isinstance(v, Path) else v for key, v in (chosen | general).items()}


def _obstacles(run: EvalRun) -> list[str]:
    """Say what keeps the scores from standing beside published ones."""
    sizes = run.benchmark.sizes
    found = {
        "incomplete copy of the data set": not run.dataset.complete,
        "no numbers are published": not run.dataset.official,
        "--limit": run.options.limit is not None,
        "--foreground ground-truth": run.labelled_only,
        "--split train": run.options.split == "train",
        f"papers take size {' or '.join(map(str, sizes))}": bool(sizes) and run.size not in sizes,
        f"{len(run.log.failures)} images failed": bool(run.log.failures),
    }
    return [reason for reason, holds in found.items() if holds]
