"""``partdino merge``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partdino.cli.console import Reporter
from partdino.cli.parameters import Workers, or_auto


def merge(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder to write.")],
    shards: Annotated[
        list[Path],
        typer.Argument(metavar="SHARD", help="All feature stores, or all label outputs, of a run."),
    ],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace OUT.")] = False,
    workers: Workers = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only warnings.")] = False,
) -> None:
    """Make one of what features --shard or label --shard made: the same as a single run makes.

    Exit code: 0 all well, 1 some images have failed in the shards, 2 nothing done.
    """
    from partdino.runs.steps.merge import merge as merge_shards

    reporter = Reporter(quiet)
    images, failed = merge_shards(out, shards, reporter, overwrite, or_auto(workers))
    reporter.say(f"{images} images of {len(shards)} shards are in {out}")
    if failed:
        reporter.warn(f"{failed} images failed; see {out / 'failures.csv'}")
        raise typer.Exit(1)
