"""``partdino segment``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from partdino.cli.console import Reporter, print_json
from partdino.cli.measure import report_measured
from partdino.cli.parameters import (
    Instances,
    InstanceShare,
    NoReview,
    OutlineSize,
    least_share,
    with_method_options,
)


@with_method_options
def segment(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT",
            help="Folders (searched recursively), images, .txt lists of paths, or URLs such as "
            "s3://bucket/folder.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write to.")],
    given: dict[str, Any],
    model: Annotated[
        Path | None,
        typer.Option(help="Label with a fitted model (parts.safetensors) instead of fitting one."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the results in --out.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the unfinished run in --out.")
    ] = False,
    update: Annotated[
        bool,
        typer.Option(
            "--update",
            help="Label what is new or has changed since the run in --out, with its parts.",
        ),
    ] = False,
    refit: Annotated[
        bool,
        typer.Option(
            "--refit",
            help="With --update: find the parts anew in all photos; those that match keep their "
            "numbers.",
        ),
    ] = False,
    drop_removed: Annotated[
        bool,
        typer.Option(
            "--drop-removed", help="With --update: take out photos that are not there any more."
        ),
    ] = False,
    instances: Instances = False,
    instance_share: InstanceShare = None,
    outline_size: OutlineSize = None,
    no_review: NoReview = False,
    measure: Annotated[
        bool, typer.Option("--measure", help="Measure the parts, too, as partdino measure does.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only warnings.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print run.json on stdout.")] = False,
) -> None:
    """Split the object in every photo into K parts.

    The same part has the same number in every photo. Nothing is trained, no labels are needed.

    Exit code: 0 all images labelled, 1 some failed (failures.csv), 2 nothing done.
    """
    from partdino.errors import ConfigError
    from partdino.options import validate
    from partdino.runs.measures.run import measure as run_measure
    from partdino.runs.refit import refit as run_refit
    from partdino.runs.resume import Existing
    from partdino.runs.segment import segment as run_segment
    from partdino.runs.update import update as run_update

    reporter = Reporter(quiet)
    existing = Existing.of(overwrite, resume, update, refit)
    if drop_removed and not update:
        raise ConfigError("--drop-removed goes with --update")
    if refit and model is not None:
        raise ConfigError("--refit finds the parts anew and --model has them: pass one of them")
    more = (not no_review, least_share(instances, instance_share), outline_size)
    if refit:
        run = run_refit(inputs, out, given, reporter, drop_removed, *more)
    elif update:
        run = run_update(inputs, out, given, reporter, model, drop_removed, *more)
    else:
        run = run_segment(inputs, out, given, reporter, model, existing, *more)
    measured = True
    if measure:
        workers = validate(given).workers
        done = run_measure(out, out, reporter, overwrite=True, workers=workers)
        measured = report_measured(done, reporter)
    report_run(run, out, reporter, as_json, measure)
    if not measured:
        raise typer.Exit(1)


def report_run(
    run: dict[str, Any], out: Path, reporter: Reporter, as_json: bool, measured: bool = False
) -> None:
    """Say how a run went that labelled images; exit with 1 where some failed."""
    counts = run["counts"]
    reporter.say(
        f"{counts['labelled']} of {counts['images']} images labelled in "
        f"{run['seconds_total']:.0f} s; see {out / 'contact_sheet.jpg'}"
    )
    if not measured:
        reporter.say(f"Sizes, shapes and colours of the parts: partdino measure {out}")
    if counts["failed"]:
        reporter.warn(f"{counts['failed']} images failed; see {out / 'failures.csv'}")
    if as_json:
        print_json(run)
    if counts["failed"]:
        raise typer.Exit(1)
