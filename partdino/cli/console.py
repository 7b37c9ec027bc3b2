"""What the CLI says: a progress bar on a terminal, plain lines in a log, one line for an error.

Messages go to stderr; stdout is kept for what a script reads (``--json``, ``weights path``).
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

_LOG_EVERY_SECONDS = 10.0
_ESTIMATE_AFTER_SECONDS = 5.0
_ESTIMATE_FROM_SECONDS = 30.0  # what is left, for an estimate to be of use
_LEAST_COLUMNS = 80
_BAR_COLUMNS = 10
_BAR_STAGES = 2  # what has room beside the bar

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
    def progress(self, title: str, total: int) -> Iterator[Callable[..., None]]:
        """Yield a function to call once per finished item.

        It may be given the item's seconds by stage: what share of the time each stage takes is
        then told too.
        """
        tally = _Tally(title, total, self.say)
        if self.quiet:
            yield lambda seconds=None: None
        elif console.is_terminal:
            columns = (
                TextColumn("{task.description}"),
                BarColumn(_BAR_COLUMNS),
                MofNCompleteColumn(),
                TimeRemainingColumn(compact=True),
                TextColumn("{task.fields[pace]}"),
            )
            with Progress(*columns, console=console) as bar:
                task = bar.add_task(title, total=total, pace="")

                def advance(seconds: Mapping[str, float] | None = None) -> None:
                    tally.add(seconds or {})
                    bar.update(task, advance=1, pace=tally.pace(_BAR_STAGES))

                yield advance
        else:
            yield self._plain_progress(title, tally)

    def _plain_progress(self, title: str, tally: _Tally) -> Callable[..., None]:
        said = time.monotonic()

        def advance(seconds: Mapping[str, float] | None = None) -> None:
            nonlocal said
            tally.add(seconds or {})
            now = time.monotonic()
            if tally.done == tally.total or now - said >= _LOG_EVERY_SECONDS:
                said = now
                self.say(f"{title}: {tally.done}/{tally.total} ({tally.pace()}{tally.left()})")

        return advance


class _Tally:
    """How many items are done, how fast, and what the time went to."""

    def __init__(self, title: str, total: int, say: Callable[[str], None]) -> None:
        self.title = title
        self.total = total
        self._say: Callable[[str], None] | None = say  # until the estimate was told
        self.done = 0
        self._start = self._first = time.monotonic()
        self._seconds: Counter[str] = Counter()

    def add(self, seconds: Mapping[str, float]) -> None:
        self.done += 1
        self._seconds.update(seconds)
        if self.done == 1:
            self._first = time.monotonic()
        elif self._say and time.monotonic() - self._first >= _ESTIMATE_AFTER_SECONDS:
            # Once, in words: whether it is worth waiting for.
            if (left := self._seconds_left()) >= _ESTIMATE_FROM_SECONDS:
                self._say(f"{self.title}: {self.total:,} in all, about {_duration(left)} left")
            self._say = None

    def pace(self, stages: int | None = None) -> str:
        """Return items per second, and the share of the longest or of all stages in the time."""
        everything = sum(self._seconds.values())
        longest = self._seconds.most_common(stages)
        shares = (f"{stage} {seconds / everything:.0%}" for stage, seconds in longest)
        return ", ".join((f"{self.done / self._elapsed():.1f}/s", *shares))

    def left(self) -> str:
        """Return the time left; what comes before the first item, such as loading, is left out."""
        return "" if self.done in (1, self.total) else f", {_duration(self._seconds_left())} left"

    def _seconds_left(self) -> float:
        each = (time.monotonic() - self._first) / (self.done - 1)
        return (self.total - self.done) * each

    def _elapsed(self) -> float:
        return max(time.monotonic() - self._start, 1e-9)


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


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
    text = " ".join(message.splitlines())
    # What a name may hold could move the cursor, or change what is on the terminal already.
    safe = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    console.print(safe, markup=False)
