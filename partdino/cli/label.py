"""``partdino label``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from partdino.cli.console import Reporter
from partdino.cli.parameters import (
    Instances,
    InstanceShare,
    NoReview,
    OutlineSize,
    Workers,
    least_share,
    or_auto,
)
from partdino.cli.segment import report_run


def label(
    stores: Annotated[
        list[Path],
        typer.Argument(metavar="STORE", help="Of partdino features: one, or those of all shards."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write to.")],
    model: Annotated[Path, typer.Option("--model", "-m", help="Of partdino fit.")],
    shard: Annotated[
        str, typer.Option(metavar="I/N", help="Only the I-th of N shares of the images.")
    ] = "1/1",
    workers: Workers = None,
    engine: Annotated[
        Literal["local", "ray"],
        typer.Option(help="Where they run: on this machine or on a Ray cluster."),
    ] = "local",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the results in --out.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the unfinished run in --out.")
    ] = False,
    instances: Instances = False,
    instance_share: InstanceShare = None,
    outline_size: OutlineSize = None,
    no_review: NoReview = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only warnings.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print run.json on stdout.")] = False,
) -> None:
    """Label the photos of a feature store: the last step of segment.

    A photo that is not where it was any more costs its overlay and the last touch to its outline
    (--outline-size), not its label map.

    Exit code: 0 all images labelled, 1 some failed (failures.csv), 2 nothing done.
    """
    from partdino.runs.label_stores import label_stores
    from partdino.runs.resume import Existing
    from partdino.runs.shard import Shard

    reporter = Reporter(quiet)
    existing = Existing.of(overwrite, resume)
    run = label_stores(
        stores,
        out,
        model,
        reporter,
        Shard.parse(shard),
        existing,
        or_auto(workers),
        engine,
        not no_review,
        least_share(instances, instance_share),
        outline_size,
    )
    report_run(run, out, reporter, as_json)
