"""``partdino apply``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partdino.cli.console import Reporter, print_json


def apply(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A run that was reviewed with partdino review.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Model file to write (.safetensors).")],
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the file at --out.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only warnings.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the parts on stdout.")] = False,
) -> None:
    """Make a model of a review: new photos get its parts, by their names.

    Pass it to segment --model or label --model. Parts are numbered anew, in their order.

    Exit code: 0 the model is at --out, 2 it is not.
    """
    from partdino.runs.review.applied import apply_review

    reporter = Reporter(quiet)
    parts = apply_review(folder, out, overwrite)
    for number, (reviewed, name) in parts.items():
        was = "" if number == reviewed else f" (part {reviewed} of the review)"
        reporter.say(f"part {number}: {name}{was}")
    reporter.say(f"{len(parts)} parts are in {out}")
    if as_json:
        said = [
            {"part": number, "reviewed_part": reviewed, "name": name}
            for number, (reviewed, name) in parts.items()
        ]
        print_json({"model": str(out), "parts": said})
