"""``partdino study``: experiments on why the method works."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from partdino.cli.console import Reporter, print_json, print_table
from partdino.cli.parameters import option_parameters, with_options
from partdino.evaluation.study.study_options import REPLACED, StudyOptions
from partdino.options import Options

app = typer.Typer(help="Measure why the method works, on any images.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Keep ``boundary`` a sub-command while it is the only one."""


def _boundary(
    inputs: Annotated[
        list[Path],
        typer.Argument(
            metavar="INPUT",
            help="Folders (searched recursively), images, .txt lists of paths; with --benchmark, "
            "the folder of the data set.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write to.")],
    given: dict[str, Any],
    cache: Annotated[
        Path | None,
        typer.Option(help="Folder of features kept between runs; may be deleted at any time."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the study in --out.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Only warnings and the table.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print summary.json on stdout, not the table.")
    ] = False,
) -> None:
    """Compare patches that straddle a boundary with those that don't.

    Every foreground patch is interior, crossed by a boundary inside the object, or on the
    silhouette. How undecided is its soft assignment to K clusters of patch features? Written are
    a table of all patches, group statistics with effect sizes, and a figure.

    Exit code: 0 all images studied, 1 some failed (failures.csv), 2 nothing done.
    """
    from partdino.evaluation.study.boundary import study_boundary
    from partdino.evaluation.study.table import comparison_table, notes
    from partdino.runs.lock import lock_folder

    reporter = Reporter(quiet)
    with lock_folder(out):
        document = study_boundary(inputs, out, given, reporter, cache, overwrite)
    if as_json:
        print_json(document)
    else:
        print_table(comparison_table(document))
        for line in notes(document):
            typer.echo(line)
    reporter.say(f"Study: {out / 'boundary.png'}")
    if document["images"]["failed"]:
        raise typer.Exit(1)


_parameters = option_parameters(StudyOptions) + option_parameters(Options, REPLACED)
app.command("boundary")(with_options(_boundary, _parameters))
