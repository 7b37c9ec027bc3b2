"""--overwrite loses neither its inputs nor the old results; --resume sees what has changed."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from segment_runs import failures, label_bytes, unfinish

from partdino.runs.steps import describe as describe_step


class Killed(BaseException):
    """The end of the process, at a moment of the test's choice."""


@pytest.fixture
def photos(photo_folder, tmp_path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    for index in (0, 1):
        shutil.copy(photo_folder / f"animal_{index:04d}.jpg", folder / f"{index}.jpg")
    return folder


@pytest.fixture
def out(finished_run, tmp_path) -> Path:
    """A finished run of eight photos."""
    shutil.copytree(finished_run, tmp_path / "out")
    return tmp_path / "out"


def snapshot(folder: Path) -> dict[str, bytes]:
    """Return all files of a folder but those of a run under way."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".partdino" not in str(path.relative_to(folder))
    }


def killed_in(monkeypatch, place, name: str, at: int = 0):
    """Let a function end the process at its n-th call."""
    real, calls = getattr(place, name), []

    def instead(*args, **kwargs):
        calls.append(1)
        if len(calls) > at:
            raise Killed
        return real(*args, **kwargs)

    monkeypatch.setattr(place, name, instead)
    return calls


def test_a_model_inside_the_output_is_read_and_not_lost(segment, photos, out, monkeypatch):
    model, before = out / "parts.safetensors", snapshot(out)
    with monkeypatch.context() as patch:
        killed_in(patch, describe_step, "describe_images")
        with pytest.raises(Killed):
            segment(photos, out, "--overwrite", "--model", model)
    assert snapshot(out) == before
    assert segment(photos, out, "--resume", "--model", model).code == 0
    assert sorted(label_bytes(out)) == ["0.jpg", "1.jpg"]
    assert model.read_bytes() == before["parts.safetensors"]


def test_masks_inside_the_output_are_read_and_not_lost(segment, photo_folder, out, monkeypatch):
    before = snapshot(out)
    masks = {"masks": out / "labels", "foreground": "masks"}
    with monkeypatch.context() as patch:
        killed_in(patch, describe_step, "describe_images")
        with pytest.raises(Killed):
            segment(photo_folder, out, "--overwrite", **masks)
    assert snapshot(out) == before
    assert segment(photo_folder, out, "--resume", **masks).code == 0
    assert len(label_bytes(out)) == 8


def test_files_that_are_not_ours_stay(segment, photos, out):
    for name in ("labels/notes.txt", "overlays/mine/deep.jpg", "labels/other.png", "diary.txt"):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text("mine")
    assert segment(photos, out, "--overwrite").code == 0
    for name in ("labels/notes.txt", "overlays/mine/deep.jpg", "labels/other.png", "diary.txt"):
        assert (out / name).read_text() == "mine"
    assert {p.name for p in (out / "labels").glob("[0-9]*.png")} == {"0.png", "1.png"}


@pytest.mark.parametrize("content", ["no image", ""])
def test_a_hopeless_run_replaces_nothing(segment, out, tmp_path, content):
    before = snapshot(out)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "a.jpg").write_text(content)
    result = segment(tmp_path / "bad", out, "--overwrite")
    assert result.code == 2 and "none of the 1 images could be read" in result.stderr
    assert snapshot(out) == before and not (out / ".partdino").exists()
    Image.fromarray(np.full((64, 64, 3), 90, np.uint8)).save(tmp_path / "bad" / "a.jpg")
    result = segment(tmp_path / "bad", out, "--overwrite", foreground="auto")
    assert result.code == 2 and "every photo is a single region" in result.stderr
    assert snapshot(out) == before and not (out / ".partdino").exists()


@pytest.mark.parametrize("function", ["replace", "rename", "unlink"])
def test_killed_at_any_moment_old_or_new_results_are_whole(
    segment, photos, finished_run, tmp_path, monkeypatch, function
):
    assert segment(photos, tmp_path / "fresh").code == 0
    old, new = snapshot(finished_run), snapshot(tmp_path / "fresh")
    unlike = ("run.json", "results.jsonl")
    for at in range(0, 400, 7):
        out = tmp_path / f"{function}-{at}"
        shutil.copytree(finished_run, out)
        with monkeypatch.context() as patch:
            calls = killed_in(patch, os, function, at)
            with suppress(Killed):
                segment(photos, out, "--overwrite")
        unfinished = (out / ".partdino").exists()
        found = snapshot(out)
        if unfinished and not (out / ".partdino" / "whole").exists():
            assert found == old
        begun = unfinished or found.keys() == new.keys()
        assert segment(photos, out, "--resume" if begun else "--overwrite").code == 0
        found = snapshot(out)
        assert found.keys() == new.keys()
        assert all(found[name] == new[name] for name in found if name not in unlike)
        shutil.rmtree(out)
        if len(calls) <= at:
            break
    else:
        pytest.fail("the run is longer than the test")


def test_resume_of_a_finished_run_redoes_what_has_changed(segment, photo_folder, photos, tmp_path):
    out = tmp_path / "out"
    good = (photos / "1.jpg").read_bytes()
    shutil.copy(photo_folder / "animal_0002.jpg", photos / "2.jpg")
    (photos / "1.jpg").write_text("no image")
    assert segment(photos, out).code == 1
    model, before = (out / "parts.safetensors").read_bytes(), label_bytes(out)
    (photos / "1.jpg").write_bytes(good)
    shutil.copy(photo_folder / "animal_0003.jpg", photos / "0.jpg")
    result = segment(photos, out, "--resume")
    assert result.code == 0, result.stderr
    assert "1 images have changed and 1 had failed" in result.stderr
    assert (out / "parts.safetensors").read_bytes() == model and failures(out) == {}
    after = label_bytes(out)
    assert after["2.jpg"] == before["2.jpg"] and after["0.jpg"] != before["0.jpg"]
    assert sorted(after) == ["0.jpg", "1.jpg", "2.jpg"]
    # As a run with this model labels the same photos.
    assert segment(photos, tmp_path / "again", "--model", out / "parts.safetensors").code == 0
    for name in ("parts.csv", "coco.json", "results.jsonl", "contact_sheet.jpg"):
        assert (out / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    assert label_bytes(tmp_path / "again") == after
    assert "nothing is left to do" in segment(photos, out, "--resume").stderr


def test_a_renewal_that_is_killed_begins_again(
    segment, photo_folder, photos, tmp_path, monkeypatch
):
    out = tmp_path / "out"
    assert segment(photos, out).code == 0
    before = snapshot(out)
    shutil.copy(photo_folder / "animal_0003.jpg", photos / "0.jpg")
    with monkeypatch.context() as patch:
        killed_in(patch, describe_step, "describe_images")
        with pytest.raises(Killed):
            segment(photos, out, "--resume")
    assert snapshot(out) == before
    result = segment(photos, out, "--resume")
    assert result.code == 0 and "1 images have changed" in result.stderr
    assert (out / "parts.safetensors").read_bytes() == before["parts.safetensors"]


def test_a_finished_run_of_version_0_1_is_left_alone(segment, photos, tmp_path):
    out = tmp_path / "out"
    assert segment(photos, out).code == 0
    lines = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    for line in lines[1:]:
        del line["key"]
    (out / "results.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = segment(photos, out, "--resume")
    assert result.code == 0 and "cannot be told" in result.stderr
    assert "nothing is left to do" in result.stderr


def test_what_an_unfinished_run_left_may_be_read_and_is_not_lost(segment, photo_folder, out):
    unfinish(out)
    before, labels = snapshot(out), label_bytes(out)
    model = out / "parts.safetensors"
    bad = {"masks": out / "nowhere", "foreground": "masks"}
    assert segment(photo_folder, out, "--overwrite", **bad).code == 2
    assert snapshot(out) == before
    assert segment(photo_folder, out, "--overwrite", "--model", model).code == 0
    assert label_bytes(out) == labels
    unfinish(out)
    masks = {"masks": out / "labels", "foreground": "masks"}
    assert segment(photo_folder, out, "--overwrite", **masks).code == 0
    assert len(label_bytes(out)) == 8


def test_a_file_that_is_no_result_is_not_replaced_by_one(segment, photos, photo_folder, out):
    mine = out / "labels" / "0.png"
    mine.write_text("mine")
    before = snapshot(out)
    result = segment(photos, out, "--overwrite")
    assert result.code == 2 and f"{mine} is none of the results" in result.stderr
    assert snapshot(out) == before
    mine.rename(out / "mine.txt")
    assert segment(photos, out, "--resume").code == 0
    assert (out / "mine.txt").read_text() == "mine" and len(label_bytes(out)) == 2


def test_results_are_no_photos_of_a_run_that_replaces_them(segment, out):
    before = snapshot(out)
    result = segment(out / "overlays", out, "--overwrite")
    assert result.code == 2 and "is a result in" in result.stderr
    assert snapshot(out) == before


def test_a_model_replaced_meanwhile_is_not_taken(segment, photos, out, tmp_path, monkeypatch):
    model = tmp_path / "model.safetensors"
    shutil.copy(out / "parts.safetensors", model)
    right = model.read_bytes()
    real = describe_step.describe_images

    def replaced(*args, **kwargs):
        model.write_bytes(b"another")
        return real(*args, **kwargs)

    monkeypatch.setattr(describe_step, "describe_images", replaced)
    assert segment(photos, tmp_path / "new", "--model", model).code == 0
    assert (tmp_path / "new" / "parts.safetensors").read_bytes() == right


def test_resume_does_not_mix_two_models(segment, photos, photo_folder, out, tmp_path):
    first = tmp_path / "first"
    assert segment(photos, first).code == 0
    shutil.copy(out / "parts.safetensors", first)
    shutil.copy(photo_folder / "animal_0003.jpg", photos / "0.jpg")
    before = snapshot(first)
    result = segment(photos, first, "--resume")
    assert result.code == 2 and "is not the model that the images there" in result.stderr
    assert snapshot(first) == before and not (first / ".partdino").exists()


def test_a_name_that_is_a_folder_of_others_stays_the_failing_one(segment, photo_folder, tmp_path):
    photos, out = tmp_path / "in", tmp_path / "out"
    (photos / "x.png").mkdir(parents=True)
    for index, name in enumerate(("a.jpg", "x.jpg", "x.png/y.jpg")):
        shutil.copy(photo_folder / f"animal_{index:04d}.jpg", photos / name)
    for more in ((), ("--resume",), ("--resume",)):
        assert segment(photos, out, *more).code == 1
        assert list(failures(out)) == ["x.png/y.jpg"] and not (out / ".partdino").exists()


@pytest.mark.parametrize("command", ["segment", "measure", "merge", "features"])
def test_what_was_being_removed_goes_with_the_next_command(
    partdino, segment, photo_folder, out, command
):
    (out / ".partdino-dropped" / "features" / "blocks").mkdir(parents=True)
    (out / ".partdino-dropped" / "features" / "blocks" / "0.json").touch()
    commands = {
        "segment": lambda: segment(photo_folder, out, "--resume"),
        "measure": lambda: partdino("measure", out, "--workers", 0),
        "merge": lambda: partdino("merge", out, photo_folder),
        "features": lambda: partdino("features", photo_folder, "-o", out),  # refused
    }
    commands[command]()
    assert (out / "run.json").exists() and not (out / ".partdino-dropped").exists()
