"""`partdino review` where it cannot begin: one line that says what to do."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from review_runs import SHA256

from partdino.cli import review as command
from partdino.runs.lock import lock_folder
from partdino.runs.review import Review, write_review


def refused(partdino: Callable, *arguments: object) -> str:
    finished = partdino("review", *arguments, "--no-browser")
    assert finished.code == 2 and finished.stderr.count("\n") == 1 and finished.stdout == ""
    return finished.stderr


def test_it_says_what_to_install(partdino: Callable, run_folder: Path, monkeypatch):
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    assert "pip install 'partdino[review]'" in refused(partdino, run_folder)


def test_two_do_not_review_one_folder(partdino: Callable, own_folder: Path):
    pytest.importorskip("uvicorn")
    with lock_folder(own_folder):
        assert str(own_folder) in refused(partdino, own_folder)


def test_a_port_that_is_taken_is_named(partdino: Callable, own_folder: Path):
    pytest.importorskip("uvicorn")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert f"--port {port}" in refused(partdino, own_folder, "--port", port)


def test_a_review_of_other_parts_is_kept(partdino: Callable, own_folder: Path):
    pytest.importorskip("uvicorn")
    write_review(own_folder, Review(SHA256[::-1]))
    before = (own_folder / "review.json").read_bytes()
    assert "move it away" in refused(partdino, own_folder)
    assert (own_folder / "review.json").read_bytes() == before
