"""Evaluations small enough for a test."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from threadpoolctl import threadpool_limits

SMALL = (
    *("--backbone", "efficientnet-lite2", "--image-size", 128, "--device", "cpu"),
    *("--regions", "felzenszwalb", "--region-size", 96),
)


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> Iterator[None]:
    """Small arrays everywhere: threads only cost time."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with threadpool_limits(1):
        yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Descriptions that several tests may share."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def run_eval(partdino, cache: Path) -> Callable[..., Any]:
    """Run ``partdino eval ARGUMENTS...`` at a small size."""
    return lambda command, *rest: partdino("eval", command, *SMALL, "--cache", cache, *rest)


@pytest.fixture
def evaluate(run_eval) -> Callable[..., dict[str, Any]]:
    """Run ``partdino eval ARGUMENTS...`` at a small size and return the results."""

    def run(*arguments: object, code: int = 0) -> dict[str, Any]:
        finished = run_eval(*arguments, "--json")
        assert finished.code == code, finished.stderr
        return json.loads(finished.stdout or "null")

    return run
