"""What a long run says, on a terminal and in a log."""

from __future__ import annotations

import io
import time

import pytest
from rich.console import Console

from partdino.cli import console
from partdino.cli.console import Reporter


@pytest.fixture
def stream(monkeypatch, request) -> io.StringIO:
    """What is printed; a terminal where the test asks for one."""
    stream = io.StringIO()
    terminal = getattr(request, "param", False)
    fake = Console(file=stream, force_terminal=terminal, width=80, soft_wrap=True)
    monkeypatch.setattr(console, "console", fake)
    return stream


def count(reporter: Reporter, total: int) -> None:
    with reporter.progress("features", total) as advance:
        for _ in range(total):
            advance()


def test_a_log_gets_the_end_of_a_short_run(stream):
    count(Reporter(), 3)
    (line,) = stream.getvalue().splitlines()
    assert line.startswith("features: 3/3 (")


def test_a_log_gets_a_line_now_and_then(stream, monkeypatch):
    clock = iter(range(0, 1000, 4))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    count(Reporter(), 10)
    done = [line.split("/")[0] for line in stream.getvalue().splitlines()]
    assert 2 < len(done) < 10 and done[-1] == "features: 10"


@pytest.mark.parametrize("stream", [True], indirect=True)
def test_a_terminal_gets_a_bar(stream):
    count(Reporter(), 3)
    assert "features" in stream.getvalue() and "3/3" in stream.getvalue()


@pytest.mark.parametrize("stream", [True, False], indirect=True)
def test_quiet_is_quiet_but_for_warnings(stream):
    reporter = Reporter(quiet=True)
    reporter.say("hello")
    count(reporter, 3)
    assert stream.getvalue() == ""
    reporter.warn("careful")
    assert "warning: careful" in stream.getvalue()


def test_messages_are_one_line_and_no_markup(stream):
    Reporter().say("[bold]a name [/x] with\na line break, " + 90 * "x")
    assert stream.getvalue() == "[bold]a name [/x] with a line break, " + 90 * "x" + "\n"
