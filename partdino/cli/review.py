"""``partdino review``."""

from __future__ import annotations

import signal
import webbrowser
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from partdino.cli.console import Reporter
from partdino.errors import ConfigError, Stopped


def review(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="What `partdino segment --out DIR` has written.")
    ],
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Where to listen on 127.0.0.1; 0: anywhere free.")
    ] = 0,
    metadata: Annotated[
        Path | None, typer.Option(help="CSV whose columns the table has, by the file's name.")
    ] = None,
    beside: Annotated[
        Path | None,
        typer.Option(metavar="OTHER_DIR", help="Another run, whose parts are shown beside."),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only the page's address.")] = False,
) -> None:
    """See, name and mend the parts of a run in the browser.

    Saves to DIR/review.json as you go; labels/ is never altered. Ctrl-C ends it.
    """
    missing = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise ConfigError(
            f"review needs {' and '.join(missing)}: install it with pip install 'partdino[review]'"
        )
    from partdino.runs.review.web.serve import serve_review

    reporter = Reporter(quiet)

    def ready(address: str) -> None:
        reporter.say("the review is at this address, for you alone; Ctrl-C ends it")
        typer.echo(address)
        if browser:
            webbrowser.open(address)

    try:
        serve_review(folder, port, reporter, ready, metadata, beside)
    except Stopped as stop:
        if stop.signal != signal.SIGINT:  # the usual end, and no interruption
            raise
    reporter.say(f"what you said is in {folder / 'review.json'}")
