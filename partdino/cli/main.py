"""The ``partdino`` command: registers the sub-commands and turns our errors into one line.

Exit codes: 0 all went well; 1 the run finished but some images failed; 2 nothing could be done
(bad option, input, weights or output); 130 interrupted.
"""

from __future__ import annotations

import sys
import traceback

import typer

from partdino.cli import console, eval, info, segment, study, synth, weights
from partdino.errors import PartDinoError
from partdino.version import __version__

_INTERRUPTED = 130  # how typer ends on Ctrl-C

app = typer.Typer(
    name="partdino",
    help="Training-free part discovery: the same part gets the same number in every photo.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("segment")(segment.segment)
app.add_typer(eval.app, name="eval")
app.add_typer(study.app, name="study")
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
    except SystemExit as end:
        if end.code == _INTERRUPTED:
            console.fail("interrupted")
        raise
    except Exception as error:  # a defect: say where it is rather than fill the screen
        place = traceback.extract_tb(error.__traceback__)[-1]
        console.fail(
            f"unexpected {type(error).__name__}: {error} ({place.filename}:{place.lineno}); "
            "please report it with the output of `partdino info`"
        )
        sys.exit(2)
