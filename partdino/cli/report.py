"""``partdino report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partdino.cli.console import Reporter, print_json


def report(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="What `partdino segment --out DIR` has written.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The HTML file to write.")],
    metadata: Annotated[
        Path | None, typer.Option(help="CSV whose columns the table has, by the file's name.")
    ] = None,
    photo_size: Annotated[
        int,
        typer.Option(
            metavar="<pixels>",
            min=100,
            help="Longer side of enlarged photos, at most their own: larger, larger the file.",
        ),
    ] = 800,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an older report.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only warnings.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what is in it on stdout.")] = False,
) -> None:
    """Write a run and its review as one HTML file to read: photos, parts, tables, methods.

    For a co-author or a supplement. It needs no other file and no network.
    """
    from partdino.output_marks import REPORT
    from partdino.runs.resume import check_replaceable
    from partdino.runs.review.report import write_report

    check_replaceable(out, REPORT, overwrite)
    reporter = Reporter(quiet)
    written = write_report(folder, out, reporter, metadata, photo_size)
    reporter.say(f"{written['parts']} parts in {written['photos']} photos are in {out}")
    if as_json:
        print_json(written)
