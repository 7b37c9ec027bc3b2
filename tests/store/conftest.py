"""Feature stores of eight photos in two blocks, made in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from segment_runs import DESCRIBING, PARTS, flags, quick_backbone

from partdino.runs.store import header


@pytest.fixture(scope="session", autouse=True)
def quick() -> Iterator[None]:
    """Load a backbone once, and put four images into a block."""
    with quick_backbone(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(header, "_BLOCKS", 2)
        yield


@pytest.fixture(scope="session")
def features(partdino: Callable, photo_folder: Path) -> Callable[..., SimpleNamespace]:
    """Run ``partdino features PHOTOS --out OUT MORE...`` with the small options, some replaced."""

    def run(out: Path, *more: object, photos: object = photo_folder, **options: object):
        given = flags({**DESCRIBING, "batch_size": 1, **options})
        return partdino("features", photos, "--out", out, *given, *more)

    return run


@pytest.fixture(scope="session")
def fit(partdino: Callable) -> Callable[..., SimpleNamespace]:
    """Run ``partdino fit STORE... --out OUT MORE...``."""

    def run(out: Path, *stores: Path, more: tuple = (), parts: int = PARTS):
        return partdino("fit", *stores, "--parts", parts, "--out", out, *more)

    return run


@pytest.fixture(scope="session")
def label(partdino: Callable, model: Path) -> Callable[..., SimpleNamespace]:
    """Run ``partdino label STORE... --out OUT MORE...``."""

    def run(out: Path, *stores: Path, more: tuple = (), model: Path = model):
        workers = () if "--workers" in more else ("--workers", 0)
        return partdino("label", *stores, "--model", model, "--out", out, *workers, *more)

    return run


@pytest.fixture(scope="session")
def store(features: Callable, tmp_path_factory) -> Path:
    """The features of all photos; to be read only."""
    out = tmp_path_factory.mktemp("store") / "store"
    result = features(out)
    assert result.code == 0, result.stderr
    return out


@pytest.fixture(scope="session")
def shards(features: Callable, tmp_path_factory) -> list[Path]:
    """The same in two shards; to be read only."""
    folder = tmp_path_factory.mktemp("shards")
    outs = [folder / f"features-{number}" for number in (1, 2)]
    for number, out in enumerate(outs, 1):
        assert features(out, "--shard", f"{number}/2").code == 0
    return outs


@pytest.fixture(scope="session")
def model(fit: Callable, store: Path, tmp_path_factory) -> Path:
    """Fitted to the store."""
    out = tmp_path_factory.mktemp("model") / "parts.safetensors"
    result = fit(out, store)
    assert result.code == 0, result.stderr
    return out


@pytest.fixture(scope="session")
def labelled(label: Callable, store: Path, tmp_path_factory) -> Path:
    """The output folder of the store and its model; to be read only."""
    out = tmp_path_factory.mktemp("labelled") / "out"
    result = label(out, store)
    assert result.code == 0, result.stderr
    return out
