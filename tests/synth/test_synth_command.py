"""`partdino synth`: what it writes, says and refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from partdino.cli.synth import synth
from partdino.errors import OutputError


def run(*arguments: object) -> Result:
    app = typer.Typer()
    app.command()(synth)
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def small(out: Path, *arguments: object) -> Result:
    return run(out, "--layout", "photos", "--images", 4, "--size", 64, *arguments)


def test_all_layouts_go_to_sub_folders(tmp_path: Path) -> None:
    out = tmp_path / "my data"
    result = run(out, "--images", 4, "--size", 64)
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in out.iterdir()) == ["celeba", "coco", "cub", "photos"]
    assert f"partdino eval cub '{out}/cub'" in result.output


def test_one_layout_goes_to_the_folder_itself(tmp_path: Path) -> None:
    result = small(tmp_path)
    assert result.exit_code == 0, result.output
    assert len(list((tmp_path / "images").iterdir())) == 4
    assert f"partdino segment {tmp_path}/images" in result.output


def test_a_full_folder_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    for flags, cure in (((), "--overwrite"), (("--overwrite",), "choose another folder")):
        result = small(tmp_path, *flags)
        assert isinstance(result.exception, OutputError)
        assert cure in str(result.exception) and str(tmp_path) in str(result.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_overwrite_replaces_the_old_data_set_and_nothing_else(tmp_path: Path) -> None:
    assert small(tmp_path, "--images", 6).exit_code == 0
    (tmp_path / "mine.txt").write_text("mine")
    assert isinstance(small(tmp_path).exception, OutputError)
    assert len(list((tmp_path / "images").iterdir())) == 6
    assert small(tmp_path, "--overwrite").exit_code == 0
    assert len(list((tmp_path / "images").iterdir())) == 4
    assert (tmp_path / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize("name", ["images/mine.jpg", "labels/mine/a.png"])
def test_a_file_of_somebody_else_in_a_data_set_is_kept(tmp_path: Path, name: str) -> None:
    assert small(tmp_path).exit_code == 0
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    result = small(tmp_path, "--overwrite")
    assert isinstance(result.exception, OutputError) and name in str(result.exception)
    assert sorted(tmp_path.rglob("*")) == before and (tmp_path / name).read_text() == "mine"


@pytest.mark.parametrize(
    "record", ["", "[]", "{}", '{"layout": "../.."}', '{"layout": "photos", "files": 3}']
)
def test_a_spoilt_record_removes_nothing(tmp_path: Path, record: str) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "synth.json").write_text(record)
    assert isinstance(small(tmp_path, "--overwrite").exception, OutputError)
    assert (tmp_path / "images").is_dir()


def test_a_file_as_folder_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("")
    assert isinstance(small(path).exception, OutputError)


def test_nothing_is_written_when_one_of_all_folders_is_taken(tmp_path: Path) -> None:
    (tmp_path / "coco").mkdir()
    (tmp_path / "coco" / "mine.txt").write_text("mine")
    result = run(tmp_path, "--images", 4, "--size", 64)
    assert isinstance(result.exception, OutputError)
    assert [path.name for path in tmp_path.iterdir()] == ["coco"]
