"""What is in the output folder already: never lost silently, never mixed with the new results."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from segment_runs import failures, files, label_bytes, unfinish

from partdino.errors import OutputError
from partdino.runs.store import DescriptionStore
from partdino.runs.writers import LabelWriter


@pytest.fixture
def two_photos(photo_folder, tmp_path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    for index in (0, 1):
        shutil.copy(photo_folder / f"animal_{index:04d}.jpg", folder / f"{index}.jpg")
    return folder


@pytest.fixture
def interrupted(segment, two_photos, tmp_path, monkeypatch) -> Path:
    """The output folder of a run that a full disk ended at its last label map."""
    out = tmp_path / "out"
    write = LabelWriter.add

    def add(self, result, stem):
        if result.name == "1.jpg":
            raise OutputError("cannot write: No space left on device")
        write(self, result, stem)

    with monkeypatch.context() as patch:
        patch.setattr(LabelWriter, "add", add)
        result = segment(two_photos, out)
    assert (result.code, result.stderr.splitlines()[-1]) == (
        2,
        "error: cannot write: No space left on device",
    )
    return out


@pytest.fixture
def described(monkeypatch) -> list[str]:
    """The keys of what is described from here on."""
    keys: list[str] = []
    write = DescriptionStore.write
    monkeypatch.setattr(
        DescriptionStore, "write", lambda *args: (keys.append(args[1]), write(*args))
    )
    return keys


def test_results_are_refused_and_left_alone(segment, two_photos, finished_run, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(finished_run, out)
    before = {name: (out / name).read_bytes() for name in files(out)}
    result = segment(two_photos, out)
    assert (result.code, result.stderr.count("\n")) == (2, 1)
    assert str(out) in result.stderr and "a finished run" in result.stderr
    assert "--overwrite" in result.stderr
    assert {name: (out / name).read_bytes() for name in files(out)} == before


def test_overwrite_leaves_nothing_of_the_old_run(segment, two_photos, finished_run, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(finished_run, out)
    (out / "notes.txt").write_text("mine")
    assert segment(two_photos, out, "--overwrite").code == 0
    assert segment(two_photos, tmp_path / "fresh").code == 0
    assert files(out) == sorted([*files(tmp_path / "fresh"), "notes.txt"])
    assert label_bytes(out) == label_bytes(tmp_path / "fresh")


@pytest.mark.parametrize("flag", [[], ["--overwrite"], ["--resume"]])
@pytest.mark.parametrize("name", ["diary.txt", "run.json", "labels/a.png"])
def test_files_of_something_else_are_never_touched(segment, two_photos, tmp_path, name, flag):
    out = tmp_path / "out"
    (out / name).parent.mkdir(parents=True)
    (out / "labels").mkdir(exist_ok=True)
    (out / name).write_text('{"run": 1}')
    result = segment(two_photos, out, *flag)
    assert (result.code, result.stderr.count("\n")) == (2, 1)
    assert "holds files of something else" in result.stderr
    assert (out / name).read_text() == '{"run": 1}'


def test_an_empty_folder_is_as_good_as_none(segment, two_photos, tmp_path):
    (tmp_path / "out").mkdir()
    assert segment(two_photos, tmp_path / "out").code == 0


def test_overwrite_and_resume_exclude_each_other(segment, two_photos, tmp_path):
    result = segment(two_photos, tmp_path / "out", "--overwrite", "--resume")
    assert (result.code, result.stderr.count("\n")) == (2, 1)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("place", ["file", "file/below", "/dev/null", "/proc/partdino", "x" * 300])
def test_unwritable_output(segment, two_photos, tmp_path, place):
    (tmp_path / "file").write_text("mine")
    result = segment(two_photos, tmp_path / place)
    assert (result.code, result.stderr.count("\n")) == (2, 1), result.stderr
    assert place in result.stderr and "choose another --out" in result.stderr
    assert (tmp_path / "file").read_text() == "mine"


def test_the_output_may_lie_inside_the_input(segment, two_photos):
    out = two_photos / "out"
    for flag in ([], ["--overwrite"]):
        assert segment(two_photos, out, *flag).code == 0
        assert sorted(label_bytes(out)) == ["0.jpg", "1.jpg"]
    result = segment(two_photos, two_photos, "--overwrite")
    assert (result.code, result.stderr.count("\n")) == (2, 1)


def test_an_unfinished_run_is_no_finished_one(segment, two_photos, interrupted):
    assert not (interrupted / "run.json").exists()
    assert not (interrupted / "coco.json").exists()
    result = segment(two_photos, interrupted)
    assert result.code == 2 and "an unfinished run" in result.stderr


def test_resume_gives_what_an_uninterrupted_run_gives(
    segment, two_photos, interrupted, tmp_path, described
):
    result = segment(two_photos, interrupted, "--resume")
    assert result.code == 0
    assert "Resuming: 2 images are described already." in result.stderr
    assert described == []
    assert segment(two_photos, tmp_path / "fresh").code == 0
    assert files(interrupted) == files(tmp_path / "fresh")
    for name in files(interrupted):
        if name != "run.json":
            assert (interrupted / name).read_bytes() == (tmp_path / "fresh" / name).read_bytes()


def test_resume_describes_only_new_and_changed_photos(
    segment, photo_folder, two_photos, interrupted, described
):
    shutil.copy(photo_folder / "animal_0002.jpg", two_photos / "0.jpg")
    shutil.copy(photo_folder / "animal_0003.jpg", two_photos / "2.jpg")
    assert segment(two_photos, interrupted, "--resume").code == 0
    assert [key.split()[0] for key in described] == ["0.jpg", "2.jpg"]
    assert sorted(label_bytes(interrupted)) == ["0.jpg", "1.jpg", "2.jpg"]


def test_resume_forgets_photos_that_are_gone(segment, two_photos, interrupted):
    assert (interrupted / "labels" / "0.png").exists()
    (two_photos / "0.jpg").unlink()
    assert segment(two_photos, interrupted, "--resume").code == 0
    assert sorted(label_bytes(interrupted)) == ["1.jpg"]
    assert json.loads((interrupted / "run.json").read_text())["counts"]["images"] == 1


def test_resume_tries_failed_photos_again(segment, photo_folder, two_photos, tmp_path):
    out = tmp_path / "out"
    shutil.copy(two_photos / "1.jpg", tmp_path / "good.jpg")
    (two_photos / "1.jpg").write_text("bad")
    assert segment(two_photos, out).code == 1 and set(failures(out)) == {"1.jpg"}
    unfinish(out)
    shutil.copy(tmp_path / "good.jpg", two_photos / "1.jpg")
    assert segment(two_photos, out, "--resume").code == 0 and failures(out) == {}
    assert sorted(label_bytes(out)) == ["0.jpg", "1.jpg"]


@pytest.mark.parametrize(
    ("changed", "value"), [("parts", 5), ("region_size", 160), ("foreground", "none")]
)
def test_resume_refuses_another_configuration(
    segment, two_photos, interrupted, tmp_path, changed, value
):
    before = files(interrupted)
    result = segment(two_photos, interrupted, "--resume", **{changed: value})
    assert result.code == 2
    error = result.stderr.splitlines()[-1]
    assert f"another {changed}" in error and repr(value) in error and "--overwrite" in error
    assert files(interrupted) == before


def test_resume_may_change_how_the_run_goes(segment, two_photos, interrupted):
    assert segment(two_photos, interrupted, "--resume", batch_size=1).code == 0


def test_resume_leaves_a_finished_run_alone(
    segment, photo_folder, two_photos, finished_run, tmp_path
):
    out = tmp_path / "out"
    shutil.copytree(finished_run, out)
    before = {name: (out / name).read_bytes() for name in files(out)}
    result = segment(photo_folder, out, "--resume")
    assert result.code == 0 and "nothing is left to do" in result.stderr
    other = segment(photo_folder, out, "--resume", parts=5)
    assert other.code == 2 and "another parts (" in other.stderr.splitlines()[-1]
    fewer = segment(two_photos, out, "--resume")
    assert fewer.code == 2 and "a finished run of other images" in fewer.stderr
    assert {name: (out / name).read_bytes() for name in files(out)} == before


def test_what_cannot_be_removed_is_an_error_in_one_line(
    segment, two_photos, finished_run, tmp_path, monkeypatch
):
    out = tmp_path / "out"
    shutil.copytree(finished_run, out)

    unlink = Path.unlink

    def deny(path, **kwargs):
        if "labels" in path.parts:
            raise PermissionError(13, "Permission denied")
        unlink(path, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", deny)
        result = segment(two_photos, out, "--overwrite")
    assert result.code == 2
    assert result.stderr.splitlines()[-1].startswith(f"error: cannot remove {out}{os.sep}labels")
    assert segment(two_photos, out, "--overwrite").code == 0
