"""What every step of the method is worth: prints the ablation table of docs/pages/measured.md.

Each row changes one thing and leaves the rest as it ships; all data sets are scored, since a change
that helps one often costs another. Images are described once for each kind of features, boundaries,
regions and cells, and kept in --cache; all other rows only cluster and score.

    python scripts/ablate.py cub=CUB_200_2011 coco-parts=carparts coco-parts=faceparts --limit 100
    python scripts/ablate.py masks=butterflies coco-parts=carparts --stages foreground

Data sets with part masks are fitted and scored on their labelled pixels, but for the stage of the
foreground, which is found there as anywhere.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from partdino.cli.console import Reporter
from partdino.errors import PartDinoError
from partdino.evaluation.benchmarks import BENCHMARKS
from partdino.evaluation.eval_options import validate_evaluation
from partdino.evaluation.pipeline import evaluate
from partdino.files import write_csv

_COLUMNS = ("stage", "change", "data", "score", "mean", "spread")
_SHOWN = ("nmi", "ari", "miou", "keypoint_regression")
_SHOWN_OF_FOREGROUND = ("object_iou", "outline_f", "object_recall", "outside_hull")


@dataclass(frozen=True)
class Row:
    """One change.

    Attributes
    ----------
    stage, change
        What the table calls it.
    options
        Options of the evaluation or the method.
    numbers
        Numbers of the method, see `partdino.method.Method`.
    """

    stage: str
    change: str
    options: Mapping[str, Any] = field(default_factory=dict)
    numbers: Mapping[str, Any] = field(default_factory=dict)


# As many clusters as parts: nothing is left to cut.
_K_MEANS = {"codebook": 1, "codebook_per_part": 1, "centroids": 1, "centroids_per_part": 1}
ROWS = (
    Row("", "as it ships"),
    Row("", "patch baseline", {"method": ["patch"]}),
    Row("features", "input 448", {"image_size": 448}),
    Row("features", "input 896", {"image_size": 896}),
    Row("boundaries", "gradient", {"boundaries": "gradient"}),
    Row("boundaries", "none (felzenszwalb)", {"boundaries": "none", "regions": "felzenszwalb"}),
    Row("regions", "felzenszwalb", {"regions": "felzenszwalb", "boundaries": "hed"}),
    Row("regions", "slic", {"regions": "slic", "boundaries": "hed"}),
    Row("cells", "whole regions, no cells", {}, {"lattice": 1, "reach": 0.0}),
    Row("pooling", "cells, not smoothed", {}, {"reach": 0.0}),
    Row("pooling", "smoothed, blind to boundaries", {}, {"strength": 1e6}),
    Row("pooling", "reach / 4", {}, {"reach": 10.0}),
    Row("pooling", "reach x 4", {}, {"reach": 160.0}),
    Row("foreground", "all is object", {"foreground": "none"}),
    Row("foreground", "contrast and one classifier", {}, {"foreground_rounds": 0}),
    Row("foreground", "1 round", {}, {"foreground_rounds": 1}),
    Row("foreground", "rounds free of the guess", {}, {"first_guess_kept": 0.0}),
    Row("foreground", "rounds tied to the guess", {}, {"first_guess_kept": 1.0}),
    Row("foreground", "all cells open", {}, {"open_cells": 1000}),
    Row("foreground", "nearly blind to colours", {}, {"colour_weight": 0.01}),
    Row("foreground", "blind to edges", {}, {"cut_reach": 0.0}),
    Row("clustering", "no centring", {}, {"centring": 0.0}),
    Row("clustering", "centring 50%", {}, {"centring": 0.5}),
    Row("clustering", "k-means, no cut", {}, _K_MEANS),
    Row("clustering", "parts of one image, too", {}, {"shared": 0}),
    Row("clustering", "one codebook", {}, {"codebooks": 1}),
    Row("clustering", "codebooks of 128", {}, {"codebook": 128}),
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
            if row.stage != "foreground" and BENCHMARKS[benchmark].kind == "foreground":
                continue  # there are no parts
            scores = score(row, BENCHMARKS[benchmark], Path(root), arguments)
            table.append((row, Path(root).name, scores))
            print(line(row, Path(root).name, scores), flush=True)
        write_csv(arguments.out, _COLUMNS, flat(table))


def score(row: Row, benchmark: Any, root: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return mean and spread of each score; none where the row cannot be had here."""
    given: dict[str, Any] = {}
    if benchmark.kind == "pixels" and row.stage != "foreground":
        given = {"foreground": "ground-truth", "split": "train", "eval_size": "full"}
    common = {"parts": [arguments.parts], "seeds": arguments.seeds, "limit": arguments.limit}
    options, method = validate_evaluation(
        {**common, **given, **row.options, "numbers": row.numbers}
    )
    try:
        document = evaluate(
            benchmark, root, options, method, Reporter(quiet=True), cache=arguments.cache
        )
    except PartDinoError as error:
        print(f"{row.change}: {error}")
        return {}
    return document["summary"][0]["scores"]


def line(row: Row, dataset: str, scores: Mapping[str, Any]) -> str:
    """Return one line of the table in Markdown."""
    cells = [
        f"{name} {scores[name]['mean']:.1f}±{scores[name]['spread'] or 0:.1f}"
        for name in (*_SHOWN, *_SHOWN_OF_FOREGROUND)
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
