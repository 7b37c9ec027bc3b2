"""``partdino export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partdino.cli.console import Reporter, print_json
from partdino.runs.exports.formats import NAMES


def export(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Output folder of a finished partdino segment.")
    ],
    format: Annotated[
        str, typer.Option("--format", "-f", metavar="NAME", help=f"One of {', '.join(NAMES)}.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write; empty or missing.")],
    only: Annotated[
        list[int] | None,
        typer.Option(metavar="INT", help="A part to export; may be repeated. Default: all."),
    ] = None,
    drop: Annotated[
        list[int] | None,
        typer.Option(metavar="INT", help="A part to leave out, which becomes background."),
    ] = None,
    with_photos: Annotated[
        bool,
        typer.Option("--with-photos", help="Copy the photos, too, turned as EXIF says."),
    ] = False,
    coco_ids: Annotated[
        Path | None,
        typer.Option(help="COCO file whose images keep their ids, by file_name."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only warnings.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a summary on stdout.")] = False,
) -> None:
    """Write the results of a finished run in the format of another tool.

    Masks, cut-outs, and what CVAT, Label Studio, labelme, YOLO, Hugging Face and ImageJ read. DIR
    is not changed.

    Exit code: 0 all images exported, 1 some failed (said on stderr), 2 nothing done.
    """
    from partdino.runs.exports.export import export as run_export

    reporter = Reporter(quiet)
    summary = run_export(
        folder, format, out, reporter, only or (), drop or (), with_photos, coco_ids
    )
    reporter.say(f"{summary['images']} images are in {out}")
    if as_json:
        print_json(summary)
    if summary["failed"]:
        reporter.warn(f"{len(summary['failed'])} images could not be exported")
        raise typer.Exit(1)
