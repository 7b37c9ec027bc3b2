"""Runs of the command line that go no further than their options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from partdino.runs import segment as segmentation

COUNTS = {"images": 3, "labelled": 3, "failed": 0, "without_foreground": 0}


@pytest.fixture
def given(partdino: Callable, tmp_path: Path, monkeypatch) -> Callable[..., dict[str, Any]]:
    """Return the option values with which ``partdino segment`` calls the library."""
    calls: list[dict[str, Any]] = []

    def segment(inputs, out, given, *others):
        calls.append(given)
        return {"counts": COUNTS, "seconds_total": 0.0}

    def run(*arguments: object) -> dict[str, Any]:
        with monkeypatch.context() as patch:
            patch.setattr(segmentation, "segment", segment)
            result = partdino("segment", tmp_path, "--out", tmp_path / "out", *arguments)
        assert result.code == 0, result.stderr
        return calls[-1]

    return run
