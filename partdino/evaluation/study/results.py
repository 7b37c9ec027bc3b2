"""What a study found, as one document, and the files that are written of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from partdino.evaluation.study.figure import write_figure
from partdino.evaluation.study.patches import Patches
from partdino.evaluation.study.statistics import Effect, compare_groups, summarise_group
from partdino.evaluation.study.straddling import GROUPS, INNER, INTERIOR, SILHOUETTE
from partdino.files import write_csv, write_json
from partdino.runs.writers.failures import write_failures
from partdino.version import __version__

SUMMARY_FILE = "summary.json"
FORMAT = 1
MEASURES = ("entropy", "confidence")

# Which patches are compared with the interior ones.
_STRADDLING = {"all": (INNER, SILHOUETTE), "inner": (INNER,), "silhouette": (SILHOUETTE,)}


def summarise(patches: Patches, temperatures: Sequence[float], seed: int) -> dict[str, Any]:
    """Compare the groups of patches.

    Parameters
    ----------
    patches
        One at least.
    temperatures
        Those of `patches`.
    seed
        Of the bootstrap.

    Returns
    -------
    dict
        What JSON can hold: ``patches`` counts them by group; ``comparisons`` has an entry for each
        definition of boundaries ("image": ridges of the boundary map; "truth": borders of the true
        parts), temperature, kind of straddling patch and measure.
    """
    definitions = {"image": patches.group}
    if (patches.true_group >= 0).all():
        definitions["truth"] = patches.true_group
    return {
        "format": FORMAT,
        "version": __version__,
        "studied_images": len(np.unique(patches.image)),
        "patches": {
            definition: dict(zip(GROUPS, np.bincount(group, minlength=3).tolist(), strict=True))
            for definition, group in definitions.items()
        },
        "temperatures": list(temperatures),
        "comparisons": [
            {
                "definition": definition,
                "temperature": temperature,
                "straddling": straddling,
                "measure": measure,
                **_compare(getattr(patches, measure)[:, index], group, kinds, patches.image, seed),
            }
            for definition, group in definitions.items()
            for index, temperature in enumerate(temperatures)
            for straddling, kinds in _STRADDLING.items()
            for measure in MEASURES
        ],
    }


def _compare(
    values: np.ndarray,
    group: np.ndarray,
    kinds: tuple[int, ...],
    images: np.ndarray,
    seed: int,
) -> dict[str, Any]:
    straddles = np.isin(group, kinds)
    compared = straddles | (group == INTERIOR)
    effects = compare_groups(values[compared], straddles[compared], images[compared], seed)
    return {
        "interior": summarise_group(values[group == INTERIOR]),
        "straddling_patches": summarise_group(values[straddles]),
        "effects": {name: _as_json(effect) for name, effect in effects.items()},
    }


def _as_json(effect: Effect) -> dict[str, float | None]:
    return {name: value if math.isfinite(value) else None for name, value in vars(effect).items()}


def write_study(
    out: Path,
    document: Mapping[str, Any],
    patches: Patches,
    names: Sequence[str],
    failures: Mapping[str, str],
) -> None:
    """Write all files of a study, ``summary.json`` last."""
    (out / SUMMARY_FILE).unlink(missing_ok=True)  # of the study that is replaced
    patches.write(out / "patches.csv", names, temperature=0)
    write_failures(out, failures.items())
    rows = list(_flat_rows(document["comparisons"]))
    write_csv(out / "summary.csv", list(rows[0]), (list(row.values()) for row in rows))
    write_figure(out, document, patches)
    write_json(out / SUMMARY_FILE, document)


def _flat_rows(comparisons: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield a line for each comparison; what is undefined is empty."""
    for entry in comparisons:
        row = {k: entry[k] for k in ("definition", "temperature", "straddling", "measure")}
        for side, values in (
            ("interior", entry["interior"]),
            ("straddling", entry["straddling_patches"]),
        ):
            row |= {f"{side}_{name}": value for name, value in values.items()}
        for name, effect in entry["effects"].items():
            row |= {name: effect["value"], f"{name}_low": effect["low"]}
            row[f"{name}_high"] = effect["high"]
        yield {name: _rounded(value) for name, value in row.items()}


def _rounded(value: Any) -> Any:
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else value
