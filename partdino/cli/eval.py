"""``partdino eval``: one sub-command for each benchmark, and ``compare``."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from partdino.cli.console import Reporter, print_json, print_table
from partdino.cli.parameters import option_parameters, with_options
from partdino.cli.spread import spreading
from partdino.evaluation.benchmarks import BENCHMARKS, Benchmark
from partdino.evaluation.eval_options import METHODS, REPLACED, EvalOptions
from partdino.options import OPTION_NAMES, Options

app = typer.Typer(
    help="Score part discovery by the field's benchmarks. data/README.md says how to lay them out.",
    no_args_is_help=True,
)

_Command = spreading(
    {
        "--parts": str.isdigit,
        "-k": str.isdigit,
        "--method": {*METHODS, "all"}.__contains__,
    }
)
_OF_PARTS = ("parts", "seeds", "method")  # options that ask for parts
_PROTOCOL = {name for benchmark in BENCHMARKS.values() for name in benchmark.protocol}


def _command(benchmark: Benchmark) -> Callable[..., None]:
    """Make the command of a benchmark, with the options that apply to it."""

    def command(
        root: Annotated[Path, typer.Argument(metavar="ROOT", help="Folder of the data set.")],
        given: dict[str, Any],
        out: Annotated[
            Path | None,
            typer.Option("--out", "-o", help="Folder for results.json, results.csv, results.md."),
        ] = None,
        labels: Annotated[
            Path | None,
            typer.Option(
                help="Score the label maps of any tool in this folder instead of a method: PNG or "
                ".npy, mirroring the images; 0 is background. Method options are then unused."
            ),
        ] = None,
        partial: Annotated[
            bool,
            typer.Option(
                "--partial", help="With --labels: score the images that have a label map."
            ),
        ] = False,
        cache: Annotated[
            Path | None,
            typer.Option(help="Folder of features kept between runs; may be deleted at any time."),
        ] = None,
        overwrite: Annotated[
            bool, typer.Option("--overwrite", help="Replace the results in --out.")
        ] = False,
        quiet: Annotated[
            bool, typer.Option("--quiet", "-q", help="Only warnings and the scores.")
        ] = False,
        as_json: Annotated[
            bool, typer.Option("--json", help="Print results.json on stdout, not the table.")
        ] = False,
    ) -> None:
        document = _evaluate(
            benchmark, root, given, out, labels, partial, cache, overwrite, Reporter(quiet)
        )
        if as_json:
            print_json(document)
        else:
            _print(document)
        if document["failures"]:
            raise typer.Exit(1)

    command.__doc__ = (
        f"{benchmark.summary}\n\n"
        "Exit code: 0 all images scored, 1 some failed (results.json), 2 nothing done."
    )
    foreign = tuple(_PROTOCOL - set(benchmark.protocol))
    if benchmark.kind == "foreground":
        foreign += _OF_PARTS
    parameters = option_parameters(EvalOptions, foreign) + option_parameters(Options, REPLACED)
    return with_options(command, parameters)


for _benchmark in BENCHMARKS.values():
    app.command(_benchmark.name, cls=_Command)(_command(_benchmark))


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(metavar="A.json", help="A results.json.")],
    second: Annotated[Path, typer.Argument(metavar="B.json", help="Another one.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")] = False,
) -> None:
    """Print two results side by side, with the differences."""
    from partdino.evaluation.results.comparison import compare as compare_results
    from partdino.evaluation.results.comparison import comparison_table, read_results

    comparison = compare_results(read_results(first), read_results(second))
    if as_json:
        print_json(comparison)
        return
    typer.echo(f"A: {first}\nB: {second}")
    print_table(comparison_table(comparison))
    if comparison["differing"]:
        Reporter().warn(f"not the same test: they differ in {', '.join(comparison['differing'])}")


def _evaluate(
    benchmark: Benchmark,
    root: Path,
    given: dict[str, Any],
    out: Path | None,
    labels: Path | None,
    partial: bool,
    cache: Path | None,
    overwrite: bool,
    reporter: Reporter,
) -> dict[str, Any]:
    from partdino.evaluation.eval_options import validate_evaluation
    from partdino.evaluation.pipeline import evaluate
    from partdino.evaluation.results.document import write_results
    from partdino.files import refuse_inside
    from partdino.output_marks import EVALUATION
    from partdino.runs.lock import lock_folder
    from partdino.runs.resume import check_free

    options, method = validate_evaluation(given)
    read = [folder for folder in (root, labels) if folder is not None]
    refuse_inside(out, "--out", *read)
    refuse_inside(cache, "--cache", *read)
    unused = ({"parts", "seeds", "method"} | set(OPTION_NAMES)) - {"foreground"}
    if labels is not None and (named := sorted(unused & set(given))):
        reporter.warn(f"--labels scores what is there: {', '.join(named)} not used")
    with nullcontext() if out is None else lock_folder(out):
        if out is not None:
            check_free(out, EVALUATION, overwrite)
        document = evaluate(benchmark, root, options, method, reporter, labels, cache, partial)
        if out is not None:
            write_results(out, document)
            reporter.say(f"Results: {out / 'results.md'}")
    return document


def _print(document: dict[str, Any]) -> None:
    from partdino.evaluation.results.tables import notes, terminal_tables

    for table in terminal_tables(document):
        print_table(table)
    for line in notes(document):
        typer.echo(line)
