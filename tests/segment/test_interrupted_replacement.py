"""A folder whose replacement was killed between two renames is put back before anything else."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from segment_runs import SMALL, content, flags

from partdino.files import recover_folder, whole_folder


@pytest.fixture
def gone(finished_run, tmp_path) -> Path:
    """The output folder of a run, where a merge that was to replace it was killed."""
    shutil.copytree(finished_run, tmp_path / ".partdino-old-M")
    shutil.copytree(finished_run, tmp_path / ".partdino-new-M")
    return tmp_path / "M"


COMMANDS = {
    "export": ("export", "OTHER", "--format", "binary", "-o", "M"),
    "export of it": ("export", "M", "--format", "binary", "-o", "NEW"),
    "report": ("report", "M", "-o", "NEW/report.html"),
    "report in it": ("report", "OTHER", "-o", "M/run.json"),
    "measure": ("measure", "M", "-o", "NEW", "--workers", "0"),
    "segment": ("segment", "PHOTOS", "-o", "M", "--resume"),
    "model": ("segment", "PHOTOS", "-o", "NEW", "--model", "M/parts.safetensors", "--workers", "0"),
    "masks": ("segment", "PHOTOS", "-o", "NEW", "--masks", "M/labels", "FLAGS"),
    "features": ("features", "PHOTOS", "-o", "M"),
    "fit": ("fit", "M", "-o", "M/parts.safetensors"),
    "merge": ("merge", "M", "OTHER"),
    "merge of it": ("merge", "NEW", "M", "OTHER"),
    "synth": ("synth", "M", "--layout", "photos"),
    "study": ("study", "boundary", "PHOTOS", "-o", "M", "--benchmark", "cub"),
    "eval": ("eval", "cub", "PHOTOS", "-o", "M"),
    "labels": ("eval", "masks", "BUTTERFLIES", "--labels", "M/labels"),
}


@pytest.mark.parametrize(
    ("command", "made"), [*((each, False) for each in COMMANDS), ("export", True), ("merge", True)]
)
def test_every_command_puts_it_back(
    partdino, photo_folder, finished_run, gone, tmp_path, command, made
):
    if made:
        gone.mkdir()
    before = content(finished_run)
    butterflies = tmp_path / "butterflies"
    shutil.copytree(photo_folder, butterflies / "images")
    shutil.copytree(finished_run / "labels", butterflies / "masks")
    places = {"OTHER": finished_run, "PHOTOS": photo_folder, "BUTTERFLIES": butterflies}
    arguments: list[object] = []
    for word in COMMANDS[command]:
        first, slash, rest = word.partition("/")
        if word == "FLAGS":
            arguments += flags({**SMALL, "image_size": 64})
        else:
            arguments.append(
                f"{places.get(first, tmp_path / first)}{slash}{rest}"
                if first in (*places, "M", "NEW")
                else word
            )
    finished = partdino(*arguments)
    assert finished.code in (0, 2), finished.stderr
    assert "unexpected" not in finished.stderr
    kept = {name: bytes_ for name, bytes_ in content(gone).items() if name in before}
    assert kept == before
    assert not (tmp_path / ".partdino-old-M").exists()


def test_folders_of_like_names_are_not_taken_for_leftovers(tmp_path):
    (tmp_path / ".partdino-old-M").mkdir()
    (tmp_path / ".partdino-old-M" / "mine").touch()
    with whole_folder(tmp_path / "old-M") as new:
        (new / "other").touch()
        recover_folder(tmp_path / "M")
        assert os.listdir(tmp_path / "M") == ["mine"]
    assert os.listdir(tmp_path / "old-M") == ["other"]


def test_it_is_said_where_it_cannot_be_put_back(partdino, gone, monkeypatch):
    def fail(*paths):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "rename", fail)
    finished = partdino("measure", gone)
    assert finished.code == 2 and finished.stderr.count("\n") == 1
    assert f"what it held is in {gone.parent / '.partdino-old-M'}" in finished.stderr


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "file/below"])
def test_names_that_no_folder_has_are_nothing_to_put_back(tmp_path, name):
    (tmp_path / "file").touch()
    recover_folder(tmp_path / name)
    assert os.listdir(tmp_path) == ["file"]
