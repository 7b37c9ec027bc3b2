"""`partdino info` says what a bug report needs, on a broken installation above all."""

from __future__ import annotations

import json
import sys

import pytest
import typer
from typer.testing import CliRunner

from partdino.cli.info import info
from partdino.describe.features import hub
from partdino.version import __version__

app = typer.Typer()
app.command()(info)


@pytest.fixture(autouse=True)
def no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "obstacle", lambda timm_name: "the hub is asleep")


def run_json() -> dict:
    result = CliRunner().invoke(app, ["--json"])
    assert result.exit_code == 0
    return json.loads(result.stdout)


def test_info_names_versions_devices_and_weights(tmp_path, monkeypatch):
    monkeypatch.setenv("PARTDINO_CACHE", str(tmp_path))
    report = run_json()
    assert report["partdino"] == __version__
    assert report["libraries"]["torch"][0].isdigit()
    assert "threads" in report["devices"]["cpu"]
    assert report["cache"] == str(tmp_path)
    assert report["weights"]["hed"] == "missing"
    assert report["hub"] == "the hub is asleep"
    assert f"partdino: {__version__}" in CliRunner().invoke(app, []).stdout


def test_a_broken_library_is_reported_not_raised(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)  # makes `import torch` fail
    report = run_json()
    assert report["devices"].startswith("failed: ModuleNotFoundError")
    assert report["libraries"]["torch"][0].isdigit()
