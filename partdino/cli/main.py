"""The ``partdino`` command: registers the sub-commands and turns our errors into one line.

Exit codes: 0 all went well; 1 the run finished but some images failed; 2 nothing could be done
(bad option, input, weights or output); 130 interrupted.
"""

from __future__ import annotations

import sys

import typer

from partdino.cli import console, info, segment, synth, weights
from partdino.errors import PartDinoError
from partdino.version import __version__

app = typer.Typer(
    name="partdino",
    help="Training-free part discovery: the same part gets the same number in every photo.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("segment")(segment.segment)
app.add_typer(weights.app, name="weights")
app.command("synth")(synth.synth)
app.command("info")(info.info)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"partdino {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    pass


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        app()
    except PartDinoError as error:
        console.fail(str(error))
        sys.exit(2)
    except KeyboardInterrupt:
        console.fail("interrupted")
        sys.exit(130)
