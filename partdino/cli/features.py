"""``partdino features``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from partdino.cli.console import Reporter, print_json
from partdino.cli.parameters import option_parameters, with_options
from partdino.options import FITTING_OPTIONS, Options


def features(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT",
            help="Folders (searched recursively), images, .txt lists of paths, or URLs such as "
            "s3://bucket/folder.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Feature store to write.")],
    given: dict[str, Any],
    shard: Annotated[
        str, typer.Option(metavar="I/N", help="Only the I-th of N shares of the images.")
    ] = "1/1",
    lists: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Where lists of what is behind URLs stay, so that all shards share one: the first "
            "makes it. [default: in --out until the store is finished]",
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the store in --out.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the store in --out, if there is one.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only warnings.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print counts on stdout.")] = False,
) -> None:
    """Describe every photo: the first step of segment, for large collections.

    The store that it makes is what fit and label take. With --shard, run it once for each share, on
    as many machines as you like, with the same INPUT and options.

    Exit code: 0 all images described, 1 some failed (failures.csv), 2 nothing done.
    """
    from partdino.runs.resume import Existing
    from partdino.runs.shard import Shard
    from partdino.runs.steps.describe import make_store

    reporter = Reporter(quiet)
    existing = Existing.of(overwrite, resume)
    store = make_store(inputs, out, given, reporter, Shard.parse(shard), existing, lists)
    images, done = len(store.images), len(store.keys)
    reporter.say(f"{done} of {images} images are described in {out}")
    if done < images:
        reporter.warn(f"{images - done} images failed; see {out / 'failures.csv'}")
    if as_json:
        print_json({"images": images, "described": done, "failed": images - done})
    if done < images:
        raise typer.Exit(1)


features = with_options(features, option_parameters(Options, without=FITTING_OPTIONS))
