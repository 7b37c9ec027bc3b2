"""What a run says while it goes on, and what it keeps account of."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from partdino.engine.outcomes import Outcome
from partdino.errors import Stopped
from partdino.images.formats import unread_sentence


class Reporter(Protocol):
    """Where a run says what it does; `partdino.cli.console.Reporter` is one."""

    def say(self, message: str) -> None:
        """Tell something of interest."""

    def warn(self, message: str) -> None:
        """Tell something that may need action."""

    def progress(self, title: str, total: int) -> Any:
        """Return a context manager that yields a function to call once per finished image."""


@contextmanager
def resumable(again: str = "--resume") -> Iterator[None]:
    """Tell how to go on where a signal ends a run, or the function, between its steps."""
    try:
        yield
    except Stopped as stop:
        state = stop.state or f"what is done is kept; go on with {again}"
        raise Stopped(stop.signal, state) from None


@dataclass
class RunLog:
    """What a run keeps account of, and says; `again` is the option that goes on with it."""

    reporter: Reporter
    again: str = "--resume"
    failures: dict[str, str] = field(default_factory=dict)
    without_foreground: list[str] = field(default_factory=list)
    without_photo: list[str] = field(default_factory=list)
    unread: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    start: float = field(default_factory=time.perf_counter)

    def note(self, outcome: Outcome) -> bool:
        """Book an outcome; return whether it succeeded."""
        for stage, seconds in outcome.seconds.items():
            self.seconds[stage] += seconds
        if outcome.failure is not None:
            self.fail(outcome.name, outcome.failure)
        return outcome.failure is None

    def fail(self, name: str, reason: str) -> None:
        """Book an image that has no result, and say so once."""
        if name not in self.failures:
            self.failures[name] = reason
            self.reporter.warn(f"{name}: {reason}")

    def note_unread(self, unread: Mapping[str, int]) -> None:
        """Book how many files of each suffix were passed over, and say so where that may be odd."""
        self.unread = dict(unread)
        if sentence := unread_sentence(unread):
            self.reporter.warn(sentence)

    def note_odd(self, name: str, foreground_found: bool, photo_found: bool) -> None:
        """Book what is odd about an image that has been labelled."""
        if not foreground_found:
            self.without_foreground.append(name)
        if not photo_found:
            self.without_photo.append(name)

    def warn_of_odd(self) -> None:
        """Say in one line each which images have no foreground, and which no photo any more."""
        for names, problem in (
            (self.without_foreground, "no foreground in {} images (run.json): {}"),
            (
                self.without_photo,
                "{} photos cannot be read any more, so they have no overlay and a coarser outline: "
                "{} (gone or replaced)",
            ),
        ):
            if names:
                more = ", ..." if len(names) > 3 else ""
                self.reporter.warn(problem.format(len(names), ", ".join(names[:3]) + more))

    @contextmanager
    def progress(self, title: str, total: int, done: int = 0) -> Iterator[Callable[..., None]]:
        """Yield a function to call once per finished image; a signal's `Stopped` tells the count.

        It may be given the image's seconds by stage.

        Parameters
        ----------
        title
            What the images get.
        total
            How many there are.
        done
            How many of them an earlier run has finished.
        """
        with self.reporter.progress(title, total - done) as show:

            def advance(seconds: Mapping[str, float] | None = None) -> None:
                nonlocal done
                done += 1
                show(seconds)

            try:
                yield advance
            except Stopped as stop:
                state = f"{done} of {total} images have {title}; go on with {self.again}"
                raise Stopped(stop.signal, state) from None
