"""``partdino measure``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from partdino.cli.console import Reporter, print_json
from partdino.cli.parameters import Workers, or_auto


def measure(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The --out of partdino segment.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder to write to. Default: DIR.")
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option(help="Such as 12.5px/mm, or a CSV of file names and px_per_mm: adds mm."),
    ] = None,
    metadata: Annotated[
        Path | None, typer.Option(help="CSV whose columns are joined by the file's name.")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Of --metadata: what the figure tells apart."),
    ] = None,
    excel: Annotated[bool, typer.Option("--excel", help="Write a workbook (.xlsx), too.")] = False,
    workers: Workers = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace older measurements.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only warnings.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print counts and files.")] = False,
) -> None:
    """Measure size, shape and colour of every part: measurements.csv and photos.csv.

    A figure, measurements.png, shows how each measurement is distributed by part.

    Exit code: 0 all photos measured, 1 some failed, 2 nothing done.
    """
    from partdino.runs.measures.run import measure as run_measure

    reporter = Reporter(quiet)
    place, processes = out or folder, or_auto(workers)
    done = run_measure(folder, place, reporter, scale, metadata, by, excel, overwrite, processes)
    measured = report_measured(done, reporter)
    if as_json:
        print_json(done)
    if not measured:
        raise typer.Exit(1)


def report_measured(done: dict[str, Any], reporter: Reporter) -> bool:
    """Say what `runs.measures.run.measure` has done; return whether all photos were measured."""
    counts, table = done["counts"], done["files"][1]
    reporter.say(f"{counts['images']} photos, {counts['odd']} look odd; see {table}")
    if counts["failed"]:
        reporter.warn(f"{counts['failed']} photos could not be measured; see {table}")
    return not counts["failed"]
