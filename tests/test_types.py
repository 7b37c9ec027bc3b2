"""Editors and type checkers see what the package exports."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import partdino

pytest.importorskip("mypy", reason="mypy is not installed: it is in the extra dev")

SNIPPET = """
from partdino import Method, PartDiscovery, fit_codebooks, make_regions, smooth
from partdino.evaluation import score_pixels

reveal_type(PartDiscovery(parts=3).predict("photos"))
reveal_type(make_regions)
reveal_type(smooth)
reveal_type(fit_codebooks)
reveal_type(Method().reach)
reveal_type(score_pixels)
PartDiscovery().predict(images=None)
"""


def test_the_public_names_have_types(tmp_path):
    (tmp_path / "snippet.py").write_text(SNIPPET)
    command = [sys.executable, "-m", "mypy", "--no-incremental", "snippet.py"]
    command += ["--follow-imports=silent", "--ignore-missing-imports"]
    environment = {**os.environ, "MYPYPATH": str(Path(partdino.__file__).parents[1])}
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False
    )
    revealed = [line for line in done.stdout.splitlines() if "Revealed type" in line]
    assert len(revealed) == 6 and not any('"Any"' in line for line in revealed)
    assert "list[partdino.parts.result.PartSegmentation]" in revealed[0]
    assert "ndarray" in revealed[1] and "float" in revealed[4]
    assert 'incompatible type "None"' in done.stdout
