"""A photo that was replaced after the run is not taken for the one that was labelled."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from segment_runs import files, table

from partdino.describe.identity import image_key, is_replaced
from partdino.files import file_version
from partdino.runs.result_log import Recorded

NAME = "animal_0003.jpg"


@pytest.fixture
def photos(photo_folder, tmp_path) -> Path:
    return shutil.copytree(photo_folder, tmp_path / "photos")


@pytest.fixture
def run(segment, photos, tmp_path) -> Path:
    """A finished run, one of whose photos is another one of the same size now."""
    out = tmp_path / "out"
    assert segment(photos, out, "-q").code == 0
    with Image.open(photos / NAME) as photo:
        size = photo.size
    Image.new("RGB", size, (255, 0, 0)).save(photos / NAME)
    return out


def warnings(finished) -> list[str]:
    return [line for line in finished.stderr.splitlines() if line.startswith("warning")]


def test_measure_takes_no_colours_of_it(partdino, run, tmp_path):
    done = partdino("measure", run, "-o", tmp_path / "m", "--workers", 0, "--json")
    assert done.code == 0
    (said,) = warnings(done)
    assert f"1 photos were replaced since they were labelled ({NAME}), so they have no" in said
    assert json.loads(done.stdout)["replaced"] == [NAME]
    rows = {row["image"]: row for row in table(tmp_path / "m" / "photos.csv")}
    assert [name for name, row in rows.items() if "photo replaced" in row["odd"]] == [NAME]
    for row in table(tmp_path / "m" / "measurements.csv"):
        assert (row["red_mean"] == "") == (row["image"] == NAME)
        assert int(row["area_px"]) > 0


@pytest.mark.parametrize("kind", ["crops", "binary", "binary --with-photos"])
def test_export_takes_nothing_of_it(partdino, run, tmp_path, kind):
    done = partdino("export", run, "-o", tmp_path / "x", "-f", *kind.split())
    assert "1 photos were replaced since they were labelled" in warnings(done)[0]
    needed = kind != "binary"
    assert done.code == needed
    assert any(Path(NAME).stem in name for name in files(tmp_path / "x")) != needed


def test_report_and_review_show_nothing_of_it(partdino, run, tmp_path):
    from partdino.runs.review.finished import open_run

    done = partdino("report", run, "-o", tmp_path / "report.html")
    assert done.code == 0 and f"({NAME}), so they are not shown" in warnings(done)[0]
    opened = open_run(run)
    assert [name for name, n in opened.names.items() if opened.photo(n, 10_000) is None] == [NAME]


def test_label_draws_nothing_on_it(partdino, photos, tmp_path):
    store, out = tmp_path / "store", tmp_path / "labelled"
    flags = ("--backbone", "efficientnet-lite2", "--boundaries", "none", "--image-size", 224)
    flags = (*flags, "--region-size", 128, "--workers", 0)
    assert partdino("features", photos, "-o", store, "-q", *flags).code == 0
    model = tmp_path / "m.safetensors"
    assert partdino("fit", store, "-o", model, "-q", "--parts", 3).code == 0
    Image.new("RGB", Image.open(photos / NAME).size, (0, 0, 255)).save(photos / NAME)
    done = partdino("label", store, "-m", model, "-o", out, "--workers", 0)
    assert done.code == 0 and "1 photos cannot be read any more" in warnings(done)[0]
    assert NAME in warnings(done)[0] and "replaced" in warnings(done)[0]
    assert not (out / "overlays" / f"{NAME}.jpg").exists()
    assert len(files(out / "overlays")) == 7 and len(files(out / "labels")) == 8


def test_a_version_is_known_where_it_was_noted(tmp_path):
    photo, masks = tmp_path / "a mask 1 2.png", tmp_path / "masks"
    Image.fromarray(np.zeros((8, 8), np.uint8)).save(photo)
    shutil.copytree(tmp_path, masks, ignore=lambda *_: ["masks"])
    version = file_version(photo)
    for folder in (None, masks):
        key = image_key(photo.name, version, folder)
        assert not is_replaced(photo.name, key, str(photo))
    assert is_replaced(photo.name, image_key(photo.name, "3 4"), photo)
    assert is_replaced(photo.name, image_key(photo.name, "3 4"), f"file://{photo}")
    assert not is_replaced(photo.name, image_key(photo.name, "3 4"), "s3://bucket/a.png")
    for unknown in (None, photo.name, f"{photo.name} missing"):
        assert not is_replaced(photo.name, unknown, photo)
    assert not is_replaced("a", "a 3 4", "a\0b")
    photo.unlink()
    assert not is_replaced(photo.name, image_key(photo.name, version), photo)


@pytest.mark.parametrize("command", ["export", "measure", "report", "merge"])
def test_a_run_that_is_replaced_while_it_is_read(
    partdino, finished_run, tmp_path, monkeypatch, command
):
    run, out = tmp_path / "run", tmp_path / "out"
    shutil.copytree(finished_run, run)
    commands = {
        "export": ("export", run, "-f", "binary", "-o", out),
        "measure": ("measure", run, "-o", out, "--workers", 0),
        "report": ("report", run, "-o", out / "report.html"),
        "merge": ("merge", out, run, "--workers", 0),
    }
    recall, seen = Recorded.recall, []

    def replaced(recorded, out):
        if not seen:
            (run / "run.json").write_text(f"{(run / 'run.json').read_text()}\n")
        seen.append(recorded.name)
        return recall(recorded, out)

    monkeypatch.setattr(Recorded, "recall", replaced)
    done = partdino(*commands[command])
    assert seen and done.code == 2
    assert f"{run} was replaced while it was read" in done.stderr.splitlines()[-1]
    assert not out.exists() or not files(out)
    monkeypatch.undo()
    assert partdino(*commands[command]).code == 0
