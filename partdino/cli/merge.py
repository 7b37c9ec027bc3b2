"""``partdino merge``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partdino.cli.console import Reporter


def merge(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder to write.")],
    shards: Annotated[
        list[Path],
        typer.Argument(metavar="SHARD", help="All feature stores, or all label outputs, of a run."),
    ],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace OUT.")] = False,
    workers: Annotated[
        int, typer.Option(min=0, max=256, help="Processes beside this one.", show_default=True)
    ] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only warnings.")] = False,
) -> None:
    """Make one of what features --shard or label --shard made: the same as a single run makes."""
    from partdino.steps.merge import merge as merge_shards

    reporter = Reporter(quiet)
    images = merge_shards(out, shards, reporter, overwrite, workers)
    reporter.say(f"{images} images of {len(shards)} shards are in {out}")
