"""What several areas test with: the command line, and data sets that are to be read only."""

from __future__ import annotations

import io
import signal
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import pytest

from partdino.cli.main import main
from partdino.evaluation.synth import write_layout

# A script's background job ignores Ctrl-C, and so would the runs that the tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass(frozen=True)
class Finished:
    """What a command left behind: its exit code and what it said."""

    code: int
    stdout: str
    stderr: str


@pytest.fixture(scope="session")
def partdino() -> Callable[..., Finished]:
    """Run ``partdino ARGUMENTS...`` in this process, as a shell would."""

    def run(*arguments: object) -> Finished:
        out, err = io.StringIO(), io.StringIO()
        argv = ["partdino", *map(str, arguments)]
        with patch.object(sys, "argv", argv), redirect_stdout(out), redirect_stderr(err):
            try:
                main()
                code = 0
            except SystemExit as end:
                code = end.code or 0
        return Finished(code, out.getvalue(), err.getvalue())

    return run


@pytest.fixture(scope="session")
def photo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with eight animal photos; their true label maps are in ``../labels``."""
    return _render(tmp_path_factory, "photos", images=8) / "images"


@pytest.fixture(scope="session")
def cub_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixteen birds of four classes, half of them train, in the layout of CUB-200-2011."""
    return _render(tmp_path_factory, "cub", images=16)


@pytest.fixture(scope="session")
def celeba_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixteen faces in the layout of CelebA with MAFL's lists, aligned and in the wild."""
    return _render(tmp_path_factory, "celeba", images=16)


@pytest.fixture(scope="session")
def coco_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six train and six test animals with part masks in COCO format."""
    return _render(tmp_path_factory, "coco", images=12)


def _render(factory: pytest.TempPathFactory, layout: str, images: int) -> Path:
    root = factory.mktemp(layout)
    write_layout(layout, root, images=images, seed=0, size=160)
    return root
