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
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with Reporter().progress("features", 10) as advance:
        for _ in range(10):
            now += 4
            advance({"regions": 1.0, "features": 3.0})
    assert stream.getvalue().splitlines() == [
        f"features: {done}/10 (0.2/s, features 75%, regions 25%{left})"
        for done, left in ((3, ", 28 s left"), (6, ", 16 s left"), (9, ", 4 s left"), (10, ""))
    ]


def test_the_time_left_leaves_out_what_comes_before_the_first(stream, monkeypatch):
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with Reporter().progress("features", 500) as advance:
        for seconds in (60, 10, 10):
            now += seconds
            advance()
    first, *_, last = stream.getvalue().splitlines()
    assert "left" not in first and last.endswith(", 83 min left)")


@pytest.mark.parametrize("stream", [True], indirect=True)
def test_a_terminal_gets_a_bar(stream):
    count(Reporter(), 3)
    assert "features" in stream.getvalue() and "3/3" in stream.getvalue()


@pytest.mark.parametrize("stream", [True], indirect=True)
def test_a_bar_with_all_that_it_tells_fits_80_columns(stream):
    with Reporter().progress("features", 1600) as advance:
        for _ in range(1600):
            advance({"boundaries": 1.1, "regions": 0.2, "features": 0.5})
    end = stream.getvalue()[-200:]
    assert "1600/1600" in end and "/s, boundaries 61%, features 28%" in end


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


@pytest.mark.parametrize(
    ("pace", "words"),
    [(1.0, ["about 13 min left"]), (20.0, ["about 4.4 h left"]), (0.01, [])],
)
def test_how_long_the_rest_takes_is_said_once_in_words(stream, monkeypatch, pace, words):
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setattr(console, "_LOG_EVERY_SECONDS", 1e9)
    with Reporter().progress("features", 800) as advance:
        for _ in range(790):
            now += pace
            advance()
    said = [line for line in stream.getvalue().splitlines() if "about" in line]
    assert said == [f"features: 800 in all, {word}" for word in words]
