"""Small runs of `partdino segment`, in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from segment_runs import SMALL, flags, quick_backbone


@pytest.fixture(scope="session", autouse=True)
def quick() -> Iterator[None]:
    """Load a backbone once."""
    with quick_backbone():
        yield


@pytest.fixture(scope="session")
def segment(partdino: Callable) -> Callable[..., SimpleNamespace]:
    """Run ``partdino segment INPUT --out OUT MORE...`` with the small options, some replaced."""

    def run(source: object, out: Path, *more: object, **options: object):
        return partdino("segment", source, "--out", out, *flags({**SMALL, **options}), *more)

    return run


@pytest.fixture(scope="session")
def finished_run(segment: Callable, photo_folder: Path, tmp_path_factory) -> Path:
    """The output folder of the eight photos; to be read only."""
    out = tmp_path_factory.mktemp("segment") / "out"
    result = segment(photo_folder, out)
    assert result.code == 0, result.stderr
    return out
