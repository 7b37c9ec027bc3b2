"""`partdino eval masks`: foregrounds against true masks of rendered animals."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from PIL import Image

from partdino.describe.description import ImageDescription
from partdino.evaluation.methods.foregrounds import by_normalised_cut

SCORES = {"object_iou", "object_iou_worst", "object_precision", "object_recall", "outline_f"}


def by_method(document):
    return {row["method"]: row["scores"] for row in document["scores"]}


def test_all_ways_are_in_one_table(evaluate, run_eval, photo_folder, tmp_path):
    root = photo_folder.parent
    document = evaluate("masks", root, "--foreground", "auto", "--out", tmp_path)
    scores = by_method(document)
    assert list(scores) == ["partdino", "contrast", "ncut", "everything"]
    assert all(values.keys() == SCORES for values in scores.values())
    floor = scores["everything"]
    shares = [
        np.mean(np.asarray(Image.open(path)) != 0) for path in sorted((root / "labels").iterdir())
    ]
    assert floor["object_recall"] == 100
    assert floor["object_iou"] == floor["object_precision"] == pytest.approx(100 * np.mean(shares))
    assert scores["partdino"]["object_iou"] > floor["object_iou"] + 20
    assert scores["partdino"] != scores["contrast"]
    assert document["dataset"]["used"] == {"fit": 8, "regression": 0, "score": 8}
    rows = list(csv.DictReader((tmp_path / "results.csv").open()))
    assert [row["method"] for row in rows] == list(scores)
    table = run_eval("masks", root).stdout
    assert "outline F" in table and "None" not in table


def test_the_true_masks_score_100(evaluate, photo_folder):
    root = photo_folder.parent
    document = evaluate("masks", root, "--labels", root / "labels")
    assert by_method(document) == {"labels": dict.fromkeys(SCORES, 100)}


def test_a_photo_that_cannot_be_read_is_left_out(evaluate, photo_folder, tmp_path):
    (tmp_path / "masks").symlink_to(photo_folder.parent / "labels")
    (tmp_path / "images").mkdir()
    for path in photo_folder.iterdir():
        (tmp_path / "images" / path.name).write_bytes(path.read_bytes())
    damaged = min((tmp_path / "images").iterdir())
    damaged.write_bytes(b"no photo")
    document = evaluate("masks", tmp_path, code=1)
    assert [failure["name"] for failure in document["failures"]] == [damaged.name]
    assert document["dataset"]["used"]["score"] == 7


def test_options_of_parts_are_refused(run_eval, photo_folder):
    assert run_eval("masks", photo_folder.parent, "--parts", 4).code == 2
    finished = run_eval("masks", photo_folder.parent, "--foreground", "none")
    assert finished.code == 2 and "--foreground auto" in finished.stderr


def test_the_normalised_cut_takes_one_piece():
    patches = np.zeros((12, 12, 2), np.float16)
    patches[..., 0] = 1
    patches[3:8, 2:6] = [0, 1]
    patches[10, 10] = [0, 1]  # alike, but apart
    nothing = np.empty(0)
    cells = np.zeros((24, 24), np.int32)
    description = ImageDescription(
        *((24, 24), cells, *[nothing] * 7),
        patches=patches,
    )
    expected = np.kron(patches[..., 1] > 0, np.ones((2, 2))) > 0
    expected[20:] = False
    np.testing.assert_array_equal(by_normalised_cut(description), expected)
