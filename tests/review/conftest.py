"""A finished run to be reviewed."""

from __future__ import annotations

from pathlib import Path

import pytest
from review_runs import write_run

from partdino.runs.review.finished import FinishedRun, open_run


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output folder of a run, to be read only."""
    return write_run(tmp_path_factory.mktemp("review"))


@pytest.fixture
def own_folder(tmp_path: Path) -> Path:
    """The output folder of a run of one's own."""
    return write_run(tmp_path)


@pytest.fixture(scope="session")
def run(run_folder: Path) -> FinishedRun:
    """The run, opened."""
    return open_run(run_folder)
