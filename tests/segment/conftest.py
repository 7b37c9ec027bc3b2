"""Small runs of `partdino segment`, in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from segment_runs import SMALL, flags
from threadpoolctl import threadpool_limits

import partdino.features


@pytest.fixture(scope="session", autouse=True)
def quick() -> Iterator[None]:
    """Load a backbone once, and leave the other cores to other tests."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch, threadpool_limits(1):
        patch.setattr(
            partdino.features, "load_backbone", lru_cache(partdino.features.load_backbone)
        )
        yield
    torch.set_num_threads(threads)


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
