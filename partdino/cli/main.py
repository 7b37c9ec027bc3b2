"""The ``partdino`` command: registers the sub-commands and turns our errors into one line.

Exit codes: 0 all went well; 1 the run finished but some images failed; 2 nothing could be done
(bad option, input, weights or output); 130 and 143 stopped by SIGINT (Ctrl-C) and SIGTERM.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import typer

from partdino.cli import (
    apply,
    console,
    eval,
    export,
    features,
    fit,
    info,
    label,
    measure,
    merge,
    report,
    review,
    segment,
    study,
    synth,
    weights,
)
from partdino.cli.streams import guard_streams, in_utf8
from partdino.engine.memory import ask_for_huge_pages
from partdino.errors import ClusterLostError, ConfigError, PartDinoError, Stopped
from partdino.version import __version__

_SIGNALLED = 128  # a shell's exit code for a process that a signal ended, less the signal's number

app = typer.Typer(
    name="partdino",
    help="Training-free part discovery: the same part gets the same number in every photo.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("segment")(segment.segment)
app.command("features")(features.features)
app.command("fit")(fit.fit)
app.command("label")(label.label)
app.command("measure")(measure.measure)
app.command("merge")(merge.merge)
app.command("review")(review.review)
app.command("apply")(apply.apply)
app.command("report")(report.report)
app.command("export")(export.export)
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
    """Run the command line and exit with its code.

    Where standard output cannot be written, that is said in one line. The code is that of the run
    if it has results elsewhere, in ``--out``, and 2 where the output was all there is.
    """
    in_utf8()
    ask_for_huge_pages()
    output = guard_streams()
    try:
        _run()
    except SystemExit as end:
        output.flush()
        if output.error is not None:
            console.fail(f"cannot write to standard output: {output.error.strerror}")
            elsewhere = any(argument.startswith(("--out", "-o")) for argument in sys.argv[1:])
            sys.exit(end.code if end.code or elsewhere else 2)
        raise


def _run() -> None:
    try:
        if "" in sys.argv[1:]:
            raise ConfigError("an argument is empty: is a variable such as $PHOTOS unset?")
        with _stoppable():
            app()
    except ClusterLostError as error:
        console.fail(str(error))
        sys.stdout.flush()
        os._exit(2)  # a usual exit waits for threads that wait for Ray
    except PartDinoError as error:
        console.fail(str(error))
        sys.exit(2)
    except Stopped as stop:
        console.fail(f"interrupted: {stop.state}" if stop.state else "interrupted")
        sys.exit(_SIGNALLED + stop.signal)
    except Exception as error:  # a defect: say where it is rather than fill the screen
        place = traceback.extract_tb(error.__traceback__)[-1]
        console.fail(
            f"unexpected {type(error).__name__}: {error} ({place.filename}:{place.lineno}); "
            "please report it with the output of `partdino info`"
        )
        sys.exit(2)


@contextmanager
def _stoppable() -> Iterator[None]:
    """Turn signals that ask for an end into `Stopped`."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    # Who starts a process with a signal ignored, such as `nohup`, wants it to stay so.
    old = {n: signal.signal(n, _stop) for n in numbers if signal.getsignal(n) != signal.SIG_IGN}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def _stop(number: int, frame: FrameType | None) -> None:
    raise Stopped(number)
