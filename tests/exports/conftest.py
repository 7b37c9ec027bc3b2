"""A finished run and its exports."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from export_runs import EMPTY, NAMES, TURNED, make_labels, write_photo, write_run
from PIL import Image


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output folder; to be read only."""
    root = tmp_path_factory.mktemp("exports")
    rng = np.random.default_rng(0)
    for name in NAMES:
        write_photo(root / "photos" / name, TURNED.get(name, 1), rng)
    labels = {name: make_labels(seed, name == EMPTY) for seed, name in enumerate(NAMES)}
    return write_run(root / "out", labels, root / "photos")


@pytest.fixture(scope="session")
def label_maps(run: Path) -> dict[str, np.ndarray]:
    """The label maps of the run by name."""
    return {name: np.asarray(Image.open(run / "labels" / f"{name}.png")) for name in NAMES}


@pytest.fixture
def export(partdino: Callable, run: Path, tmp_path: Path) -> Callable[..., Path]:
    """Run ``partdino export`` on the run without an error; return the folder it wrote."""

    def call(format: str, *more: object) -> Path:
        result = partdino("export", run, "--format", format, "--out", tmp_path / "x y", *more)
        assert result.code == 0, result.stderr
        return tmp_path / "x y"

    return call
