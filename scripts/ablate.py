"""What every step of the method is worth: prints the ablation table of the README.

Each row changes one thing and leaves the rest as it ships; all data sets are scored, since a change
that helps one often costs another. Images are described once for each kind of features, boundaries
and regions, and kept in --cache; all other rows only cluster and score.

    python scripts/ablate.py cub=CUB_200_2011 coco-parts=carparts coco-parts=faceparts --limit 100

Data sets with masks are fitted and scored on their labelled pixels.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from partdino.cli.console import Reporter
from partdino.describe.description import ImageDescription
from partdino.errors import PartDinoError
from partdino.evaluation.benchmarks import BENCHMARKS
from partdino.evaluation.eval_options import validate_evaluation
from partdino.evaluation.pipeline import evaluate
from partdino.files import write_csv
from partdino.parts.foreground import pool_regions

_COLUMNS = ("stage", "change", "data", "score", "mean", "spread")
_SHOWN = ("nmi", "ari", "miou", "keypoint_regression")


@dataclass(frozen=True)
class Row:
    """One change.

    Attributes
    ----------
    stage, change
        What the table calls it.
    options
        Options of the evaluation or the method.
    constants
        New values of constants and functions of the package, by their full names.
    """

    stage: str
    change: str
    options: Mapping[str, Any] = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)


def whole_regions(description: ImageDescription, foreground: np.ndarray) -> np.ndarray:
    """Give every cell the mean feature of its region, instead of smoothing."""
    return pool_regions(description)[0][description.regions].astype(np.float32)


def _replaced(name: str, value: Callable) -> dict[str, Callable]:
    return {f"partdino.{module}.{name}": value for module in ("fitting", "labelling")}


_K_MEANS = {"partdino.parts.fitting.codebook_size": lambda num_parts: num_parts}
ROWS = (
    Row("", "as it ships"),
    Row("", "patch baseline", {"method": ["patch"]}),
    Row("features", "input 448", {"image_size": 448}),
    Row("features", "input 896", {"image_size": 896}),
    Row("boundaries", "gradient", {"boundaries": "gradient"}),
    Row("boundaries", "none (felzenszwalb)", {"boundaries": "none", "regions": "felzenszwalb"}),
    Row("regions", "felzenszwalb", {"regions": "felzenszwalb", "boundaries": "hed"}),
    Row("regions", "slic", {"regions": "slic", "boundaries": "hed"}),
    Row("pooling", "whole regions, no cells", {}, _replaced("smooth_cells", whole_regions)),
    Row("pooling", "cells, not smoothed", {}, {"partdino.parts.smoothing.REACH": 0.0}),
    Row("pooling", "smoothed, blind to boundaries", {}, {"partdino.parts.smoothing.STRENGTH": 1e9}),
    Row("pooling", "reach / 4", {}, {"partdino.parts.smoothing.REACH": 10.0}),
    Row("pooling", "reach x 4", {}, {"partdino.parts.smoothing.REACH": 160.0}),
    Row("foreground", "all is object", {"foreground": "none"}),
    Row("clustering", "no centring", {}, {"partdino.parts.projection.CENTRING": 0.0}),
    Row("clustering", "centring 50%", {}, {"partdino.parts.projection.CENTRING": 0.5}),
    Row("clustering", "k-means, no cut", {}, {**_K_MEANS, "partdino.parts.codebook.RUNS": 10}),
    Row("clustering", "parts of one image, too", {}, {"partdino.parts.codebook.SHARED": 0}),
    Row("clustering", "codebook of 64", {}, {"partdino.parts.codebook.CODEBOOK": 64}),
    Row("clustering", "codebook of 256", {}, {"partdino.parts.codebook.CODEBOOK": 256}),
)


def main() -> None:
    """Score every row on every data set and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="+", metavar="BENCHMARK=ROOT")
    parser.add_argument("--parts", type=int, default=8)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--limit", type=int, help="images of each split")
    parser.add_argument("--stages", nargs="+", help="only these: pooling clustering ...")
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--out", type=Path, default=Path("ablation.csv"))
    arguments = parser.parse_args()
    datasets = dict(reversed(each.split("=", 1)) for each in arguments.datasets)
    rows = [r for r in ROWS if arguments.stages is None or r.stage in ("", *arguments.stages)]
    table = []
    for row in rows:
        for root, benchmark in datasets.items():
            if row.stage == "foreground" and BENCHMARKS[benchmark].kind == "pixels":
                continue  # the labelled pixels are the foreground
            scores = score(row, BENCHMARKS[benchmark], Path(root), arguments)
            table.append((row, Path(root).name, scores))
            print(line(row, Path(root).name, scores), flush=True)
        write_csv(arguments.out, _COLUMNS, flat(table))


def score(row: Row, benchmark: Any, root: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return mean and spread of each score; none where the row cannot be had here."""
    given = {"foreground": "ground-truth"} if benchmark.kind == "pixels" else {}
    if benchmark.kind == "pixels":
        given |= {"split": "train", "eval_size": "full"}
    common = {"parts": [arguments.parts], "seeds": arguments.seeds, "limit": arguments.limit}
    options, method = validate_evaluation({**common, **given, **row.options})
    try:
        with changed(row.constants):
            document = evaluate(
                benchmark, root, options, method, Reporter(quiet=True), cache=arguments.cache
            )
    except PartDinoError as error:
        print(f"{row.change}: {error}")
        return {}
    return document["summary"][0]["scores"]


@contextmanager
def changed(constants: Mapping[str, Any]) -> Iterator[None]:
    """Give constants of the package other values for a while."""
    with ExitStack() as stack:
        for name, value in constants.items():
            stack.enter_context(patch(name, value))
        yield


def line(row: Row, dataset: str, scores: Mapping[str, Any]) -> str:
    """Return one line of the table in Markdown."""
    cells = [
        f"{name} {scores[name]['mean']:.1f}±{scores[name]['spread'] or 0:.1f}"
        for name in _SHOWN
        if name in scores
    ]
    return f"| {row.stage} | {row.change} | {dataset} | {' | '.join(cells)} |"


def flat(table: list[tuple[Row, str, Mapping[str, Any]]]) -> Iterator[list[Any]]:
    """Yield the lines of the CSV: one for each score."""
    for row, dataset, scores in table:
        for name, value in scores.items():
            yield [row.stage, row.change, dataset, name, value["mean"], value["spread"]]


if __name__ == "__main__":
    main()
