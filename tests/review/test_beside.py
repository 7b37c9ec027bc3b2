"""Another run over the same photos: its parts are matched with those that are reviewed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from review_runs import SHA256, write_run

from partdino.errors import InputError
from partdino.runs.review import PartReview, Review
from partdino.runs.review.beside import Beside
from partdino.runs.review.finished import IndexedRun
from partdino.runs.writers.palette import part_colours


def hexed(part: int) -> str:
    return "#" + part_colours()[part].tobytes().hex()


@pytest.fixture
def beside(run: IndexedRun, other_folder: Path) -> Beside:
    return Beside.open(run, other_folder)


def test_parts_are_matched_by_what_they_share(beside: Beside):
    parts = {part["name"]: part for part in beside.parts(Review(SHA256))["parts"]}
    assert {name: part["part"] for name, part in parts.items()} == {
        "Kopf": 1,
        "part 1": 2,
        "part 4": 3,
        "part 2": 5,  # like none: above all of the run that is reviewed
    }
    assert [parts[name]["overlap"] for name in ("Kopf", "part 1", "part 2")] == [1, 1, None]
    assert [parts[name]["colour"] for name in ("Kopf", "part 1", "part 2")] == [
        hexed(1),
        hexed(2),
        hexed(5),
    ]


def test_they_follow_what_is_said(beside: Beside):
    said = {
        1: PartReview(colour="#00ff00"),
        2: PartReview(merged_into=1),
        3: PartReview(background=True),
    }
    document = beside.parts(Review(SHA256, parts=said))
    parts = {part["name"]: part for part in document["parts"]}
    assert parts["Kopf"]["part"] == 1 or parts["part 1"]["part"] == 1  # one half of it, not both
    assert parts["part 4"]["overlap"] is None
    [half] = [part for part in parts.values() if part["part"] == 1]
    assert half["colour"] == "#00ff00" and half["overlap"] == pytest.approx(0.5, abs=0.05)
    assert document["lookup"][3] == parts["Kopf"]["part"] and document["lookup"][0] == 0


def test_runs_over_other_photos_are_refused(run: IndexedRun, tmp_path: Path, partdino: Callable):
    other = write_run(tmp_path, ["x.jpg", "y.jpg"])
    with pytest.raises(InputError, match="has no photo of those in"):
        Beside.open(run, other)
    pytest.importorskip("uvicorn")
    finished = partdino("review", run.folder, "--beside", other, "--no-browser")
    assert finished.code == 2 and finished.stderr.count("\n") == 1
    assert "name a run over the same ones" in finished.stderr
