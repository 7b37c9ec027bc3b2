"""`--hints`: a person's points and boxes, from the table to the label maps."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from segment_runs import DESCRIBING, SMALL, failures, flags, label_bytes, label_map

HEADER = "file,kind,x,y,width,height\n"


@pytest.fixture
def table(tmp_path) -> Path:
    return tmp_path / "hints.csv"


def corners(out: Path, name: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return (x, y) of a pixel in the middle of an object, and of the first pixel beside it."""
    parts = label_map(out, name) > 0
    rows, columns = np.nonzero(parts)
    middle = np.argmin((rows - rows.mean()) ** 2 + (columns - columns.mean()) ** 2)
    beside = np.argwhere(~parts)[0]
    return (int(columns[middle]), int(rows[middle])), (int(beside[1]), int(beside[0]))


def test_an_update_takes_up_new_hints_of_those_photos_alone(
    segment, finished_run, photo_folder, table, tmp_path
):
    first, second, *_ = sorted(label_bytes(finished_run))
    (x, y), (u, v) = corners(finished_run, first)
    (_, lowest), _ = corners(finished_run, second)
    width, _ = Image.open(photo_folder / second).size
    table.write_text(
        f"{HEADER}{first},background,{x},{y},,\n{first},object,{u},{v},,\n"
        f"{second},box,0,0,{width},{lowest}\nother.jpg,object,1,1,,\n"
    )
    out = Path(shutil.copytree(finished_run, tmp_path / "out"))
    result = segment(photo_folder, out, "--update", hints=table)
    assert result.code == 0, result.stderr
    assert f"{table} has hints for 1 files that are none of the photos: other.jpg" in result.stderr
    run = json.loads((out / "run.json").read_text())
    assert run["update"]["changed"] == 2
    assert run["options"]["hints"] == str(table)
    before, after = label_bytes(finished_run), label_bytes(out)
    assert [name for name in before if before[name] != after[name]] == [first, second]
    labels = label_map(out, first)
    assert labels[v, u] > 0
    assert labels[y, x] == 0
    below = lowest + 15  # cells and the photo's edges may reach beyond the box
    assert label_map(finished_run, second)[below:].any()
    assert not label_map(out, second)[below:].any()


def test_hints_go_through_features_fit_and_label(segment, partdino, photo_folder, table, tmp_path):
    name = min(path.name for path in photo_folder.iterdir())
    table.write_text(f"{HEADER}{name},object,1,1,,\n")
    store, model, out = tmp_path / "store", tmp_path / "m.safetensors", tmp_path / "out"
    given = flags({**DESCRIBING, "hints": table})
    assert partdino("features", photo_folder, "-o", store, *given).code == 0
    assert partdino("fit", store, "-o", model, "-k", SMALL["parts"], "--workers", 0).code == 0
    assert partdino("label", store, "-m", model, "-o", out, "--workers", 0).code == 0
    assert label_map(out, name)[1, 1] > 0
    direct = tmp_path / "direct"
    assert segment(photo_folder, direct, hints=table).code == 0
    assert label_bytes(direct) == label_bytes(out)


def test_a_point_outside_a_photo_fails_that_photo_alone(segment, photo_folder, table, tmp_path):
    name = min(path.name for path in photo_folder.iterdir())
    table.write_text(f"{HEADER}{name},object,9999,1,,\n")
    out = tmp_path / "out"
    assert segment(photo_folder, out, hints=table).code == 1
    assert list(failures(out)) == [name]
    assert "the point 9999, 1 is outside the photo" in failures(out)[name]


def test_a_table_that_makes_no_sense_ends_the_run_before_any_work(
    segment, photo_folder, table, tmp_path
):
    table.write_text("file,x,y\nbird.jpg,1,2\n")
    result = segment(photo_folder, tmp_path / "out", hints=table)
    assert result.code == 2
    assert f"{table} has no column kind" in result.stderr
