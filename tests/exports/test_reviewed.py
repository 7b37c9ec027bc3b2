"""Exports of a run that was reviewed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from export_runs import make_labels, write_photo, write_run
from PIL import Image
from pycocotools.coco import COCO
from segment_runs import content, files

from partdino.runs.exports.finished import ExportImage, FinishedRun
from partdino.runs.review import PartReview, Review, write_review

REVIEW = Review(
    "",
    parts={
        1: PartReview(name="left/right wing", colour="#010203"),
        2: PartReview(background=True),
        3: PartReview(merged_into=1),
        4: PartReview(name="object", hidden=True),
    },
    photos={"b.png": "excluded", "a.png": "wrong"},
)


@pytest.fixture
def export(partdino: Callable, tmp_path: Path) -> Callable[..., Path]:
    """Export a reviewed run of two photos, one of them excluded."""
    run = write_run(
        tmp_path / "run", {"a.png": make_labels(0), "b.png": make_labels(1)}, tmp_path / "photos"
    )
    write_photo(tmp_path / "photos" / "a.png", 1, np.random.default_rng(0))
    write_review(run, REVIEW)

    def call(format: str, *more: object) -> Path:
        before = content(run)
        result = partdino("export", run, "--format", format, "--out", tmp_path / "out", *more)
        assert result.code == 0, result.stderr
        assert "review.json is applied" in result.stderr
        assert content(run) == before
        return tmp_path / "out"

    return call


def expected() -> np.ndarray:
    return np.array([0, 1, 0, 1, 4], np.uint8)[make_labels(0)]


def test_merged_parts_are_one_and_background_is_none(export):
    out = export("masks")
    assert files(out) == ["masks/a.png"]
    np.testing.assert_array_equal(np.asarray(Image.open(out / "masks" / "a.png")), expected())


def test_parts_have_the_names_and_colours_of_the_review(export, tmp_path):
    export("masks")
    parts = FinishedRun(tmp_path / "run").parts()
    assert [(part.number, part.name, part.hex) for part in parts] == [
        (1, "left/right wing", "#010203"),
        (4, "object (4)", "#f622b5"),
    ]


def test_coco_has_one_annotation_for_merged_parts(export):
    coco = COCO(export("coco") / "coco.json")
    assert {c["id"]: c["name"] for c in coco.cats.values()} == {
        1: "left/right wing",
        4: "object (4)",
    }
    for annotation in coco.anns.values():
        mask = expected() == annotation["category_id"]
        np.testing.assert_array_equal(coco.annToMask(annotation) > 0, mask)
        assert annotation["score"] == 0.75


@pytest.mark.parametrize("format", ["crops", "binary"])
def test_folders_have_names_that_a_disk_takes(export, format):
    folders = {Path(name).parts[-2] for name in files(export(format))}
    assert folders - {"object"} == {"left_right wing", "object (4)"}


def test_palettes_have_the_colours_of_the_review(export):
    image = Image.open(export("voc") / "SegmentationClass" / "a.png").convert("RGB")
    assert set(np.asarray(image)[expected() == 1].ravel().tolist()) == {1, 2, 3}


def test_every_name_reaches_the_annotation_tools(export):
    labels = json.loads((export("cvat") / "labels.json").read_text())
    assert [(label["name"], label["color"]) for label in labels] == [
        ("left/right wing", "#010203"),
        ("object (4)", "#f622b5"),
    ]


def test_parts_that_the_review_took_away_cannot_be_asked_for(partdino, export, tmp_path):
    export("masks")
    result = partdino(
        *("export", tmp_path / "run", "--format", "masks"),
        *("--out", tmp_path / "other", "--only", 3),
    )
    assert result.code == 2 and "no part 3 to export; the parts are 1, 4" in result.stderr


def test_a_review_of_other_parts_is_refused(partdino, tmp_path):
    run = write_run(tmp_path / "run", {"a.png": make_labels(0)}, tmp_path)
    write_review(run, Review("another"))
    result = partdino("export", run, "--format", "masks", "--out", tmp_path / "out")
    assert result.code == 2 and "is of other parts" in result.stderr


def test_a_run_without_any_photo_left_is_refused(partdino, tmp_path):
    run = write_run(tmp_path / "run", {"a.png": make_labels(0)}, tmp_path)
    write_review(run, Review("", photos={"a.png": "excluded"}))
    result = partdino("export", run, "--format", "masks", "--out", tmp_path / "out")
    assert result.code == 2 and "excludes every photo" in result.stderr


def test_confidence_of_merged_parts_is_that_of_their_pixels(tmp_path):
    labels = np.array([[1, 1, 1, 3]], np.uint8)
    run = write_run(tmp_path / "run", {"a.png": labels}, tmp_path)
    lines = (run / "results.jsonl").read_text().splitlines()
    recorded = json.loads(lines[1])
    recorded["confidence"] = [0.8, 0.0, 0.4, 0.0]
    (run / "results.jsonl").write_text("\n".join([lines[0], json.dumps(recorded), ""]))
    write_review(run, REVIEW)
    finished = FinishedRun(run)
    [line] = finished
    values = finished.values(finished.parts())
    image = ExportImage(line.name, line.stem, line.photo, line, finished.division, values)
    assert image.label_map.tolist() == [[1, 1, 1, 1]]
    assert image.result.confidence.tolist() == pytest.approx([0.7, 0, 0, 0])


@pytest.mark.parametrize("typicality", [[0.5] * 3, [], None])
def test_a_line_whose_lists_do_not_fit_is_damaged(partdino, tmp_path, typicality):
    run = write_run(tmp_path / "run", {"a.png": make_labels(0)}, tmp_path / "photos")
    head, line, *rest = (run / "results.jsonl").read_text().splitlines(keepends=True)
    line = json.dumps({**json.loads(line), "typicality": typicality}) + "\n"
    (run / "results.jsonl").write_text("".join([head, line, *rest]))
    write_review(run, REVIEW)
    result = partdino("export", run, "-f", "coco", "-o", tmp_path / "out")
    assert result.code == 2 and "line 2 is damaged" in result.stderr
    assert not (tmp_path / "out").exists()
