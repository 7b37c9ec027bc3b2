"""The example package of the folder beside this file, installed where the tests look."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def example(tmp_path_factory) -> Path:
    """A folder with the installed example package, and with modules of stages that are wrong."""
    source, target = (tmp_path_factory.mktemp(name) for name in ("source", "installed"))
    shutil.copytree(HERE / "example", source, dirs_exist_ok=True)
    # Without pip, which some environments lack: what a wheel of the example would put there.
    shutil.copy(source / "partdino_example.py", target)
    shutil.copy(HERE / "broken_stages.py", target)
    info = target / "partdino_example-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: partdino-example\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry_points(source / "pyproject.toml"))
    (info / "RECORD").touch()
    return target


def entry_points(pyproject: Path) -> str:
    """Return the entry points of a project as they are installed, and one that leads nowhere."""
    lines = pyproject.read_text().split("[tool.")[0].splitlines()
    start = next(n for n, line in enumerate(lines) if "entry-points" in line)
    text = "\n".join(lines[start:]).replace('"', "").replace("[project.entry-points.", "[")
    return text.replace("quarters =", "missing = partdino_example:nothing\nquarters =")


@pytest.fixture(scope="session")
def run(example):
    """Run the command line in a process that sees the example."""

    def command(*arguments: object) -> subprocess.CompletedProcess:
        places = [str(example), os.environ.get("PYTHONPATH", ""), str(HERE.parents[1])]
        return subprocess.run(
            [sys.executable, "-m", "partdino", *map(str, arguments)],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
            check=False,
        )

    return command
