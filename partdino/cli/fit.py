"""``partdino fit``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from partdino.cli.console import Reporter, print_json
from partdino.cli.parameters import method_parameters, with_options
from partdino.options import FITTING_OPTIONS


def fit(
    stores: Annotated[
        list[Path],
        typer.Argument(metavar="STORE", help="Of partdino features: one, or those of all shards."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Model file to write (.safetensors).")],
    given: dict[str, Any],
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the file at --out.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only warnings.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the number of parts on stdout.")
    ] = False,
) -> None:
    """Find the parts of a collection in its features: the second step of segment.

    Exit code: 0 the model is at --out, 2 it is not.
    """
    from partdino.runs.steps.fit import make_model

    reporter = Reporter(quiet)
    model = make_model(stores, out, given, reporter, overwrite)
    reporter.say(f"{len(model.parts)} parts are in {out}")
    if as_json:
        print_json({"model": str(out), "parts": model.counts()})


fit = with_options(fit, method_parameters(*FITTING_OPTIONS, "device", "workers", "engine"))
