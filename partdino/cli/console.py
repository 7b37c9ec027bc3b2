"""What the CLI says: a progress bar on a terminal, plain lines in a log, one line for an error.

Messages go to stderr; stdout is kept for what a script reads (``--json``, ``weights path``).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

_LOG_EVERY_SECONDS = 10.0
_LEAST_COLUMNS = 80

console = Console(stderr=True, highlight=False, soft_wrap=True)


class Reporter:
    """Says what a long run does.

    Parameters
    ----------
    quiet
        Say nothing but warnings and errors.
    """

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet

    def say(self, message: str) -> None:
        """Print one line of information."""
        if not self.quiet:
            _print_line(message)

    def warn(self, message: str) -> None:
        """Print one line that ``--quiet`` does not silence."""
        _print_line(f"warning: {message}")

    @contextmanager
    def progress(self, title: str, total: int) -> Iterator[Callable[[], None]]:
        """Yield a function to call once per finished item."""
        if self.quiet:
            yield lambda: None
        elif console.is_terminal:
            columns = (
                TextColumn("{task.description:<12}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
            )
            with Progress(*columns, console=console) as bar:
                task = bar.add_task(title, total=total)
                yield lambda: bar.advance(task)
        else:
            yield self._plain_progress(title, total)

    def _plain_progress(self, title: str, total: int) -> Callable[[], None]:
        state = {"done": 0, "start": time.monotonic(), "said": time.monotonic()}

        def advance() -> None:
            state["done"] += 1
            now = time.monotonic()
            if state["done"] == total or now - state["said"] >= _LOG_EVERY_SECONDS:
                state["said"] = now
                rate = state["done"] / max(now - state["start"], 1e-9)
                self.say(f"{title}: {state['done']}/{total} ({rate:.1f}/s)")

        return advance


def print_json(document: Any) -> None:
    """Print a document for scripts on stdout."""
    # ASCII alone: not every terminal and pipe takes what a file's name may hold.
    sys.stdout.write(json.dumps(document, indent=2) + "\n")


def print_table(table: Table) -> None:
    """Print a table on stdout, at least 80 columns wide."""
    out = Console(highlight=False)
    out.width = max(out.width, _LEAST_COLUMNS)
    out.print(table)


def fail(message: str) -> None:
    """Print an error as one line."""
    _print_line(f"error: {message}")


def _print_line(message: str) -> None:
    # File names and the words of other libraries may hold line breaks.
    console.print(" ".join(message.splitlines()), markup=False)
