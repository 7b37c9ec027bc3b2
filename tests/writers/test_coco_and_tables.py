from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from pycocotools.coco import COCO

from partdino.errors import OutputError
from partdino.runs.writers import CocoWriter, PartsTableWriter, write_failures
from partdino.runs.writers.coco import part_categories

NAMES = ["sub dir/bird 1.jpg", "鳥.png", 'quote", comma.jpg', "none.jpg"]


def _results(make_result) -> list:
    results = [make_result(name, (40 + 7 * i, 90 - 9 * i), 6, i) for i, name in enumerate(NAMES)]
    results[-1] = make_result(NAMES[-1], label_map=np.zeros((20, 30), np.uint8))
    return results


def _write(writer, results, make_photo) -> None:
    for result in results:
        writer.add(result)
    writer.close()


def test_coco_masks_decode_to_the_label_maps(make_result, make_photo, tmp_path: Path) -> None:
    results = _results(make_result)
    _write(CocoWriter(tmp_path), results, make_photo)
    coco = COCO(tmp_path / "coco.json")
    assert [image["file_name"] for image in coco.dataset["images"]] == NAMES
    for image, result in zip(coco.dataset["images"], results, strict=True):
        height, width = result.label_map.shape
        assert (image["height"], image["width"]) == (height, width)
        decoded = np.zeros((height, width), np.uint8)
        for annotation in coco.imgToAnns[image["id"]]:
            decoded += coco.annToMask(annotation) * np.uint8(annotation["category_id"])
        assert np.array_equal(decoded, result.label_map)


def test_coco_annotations_describe_their_masks(make_result, make_photo, tmp_path: Path) -> None:
    results = _results(make_result)
    _write(CocoWriter(tmp_path), results, make_photo)
    coco = COCO(tmp_path / "coco.json")
    annotations = coco.dataset["annotations"]
    assert [annotation["id"] for annotation in annotations] == list(range(1, len(annotations) + 1))
    for annotation in annotations:
        part = annotation["category_id"]
        mask = results[annotation["image_id"] - 1].label_map == part
        rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        assert annotation["area"] == mask.sum()
        assert annotation["bbox"] == [columns[0], rows[0], np.ptp(columns) + 1, np.ptp(rows) + 1]
        assert annotation["iscrowd"] == 0
        confidence = results[annotation["image_id"] - 1].confidence[part - 1]
        assert annotation["score"] == pytest.approx(confidence, abs=1e-4)


def test_categories_are_numbered_with_as_many_digits_as_needed() -> None:
    assert [c["name"] for c in part_categories(2)] == ["part_01", "part_02"]
    assert part_categories(100)[6] == {"id": 7, "name": "part_007", "supercategory": "part"}


def test_parts_table_equals_brute_force(make_result, make_photo, tmp_path: Path) -> None:
    results = {result.name: result for result in _results(make_result)}
    _write(PartsTableWriter(tmp_path), results.values(), make_photo)
    with (tmp_path / "parts.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    present = [
        (r.name, part) for r in results.values() for part in range(1, 7) if part in r.label_map
    ]
    assert [(row["image"], int(row["part"])) for row in rows] == present
    for row in rows:
        result, part = results[row["image"]], int(row["part"])
        ys, xs = np.nonzero(result.label_map == part)
        assert float(row["area_fraction"]) == pytest.approx(
            len(xs) / result.label_map.size, rel=1e-5
        )
        assert float(row["centroid_x"]) == pytest.approx(xs.mean() + 0.5, abs=0.006)
        assert float(row["centroid_y"]) == pytest.approx(ys.mean() + 0.5, abs=0.006)
        box = [int(row[f"box_{key}"]) for key in ("x", "y", "width", "height")]
        assert box == [xs.min(), ys.min(), np.ptp(xs) + 1, np.ptp(ys) + 1]
        assert float(row["mean_confidence"]) == pytest.approx(result.confidence[part - 1], abs=1e-4)


def test_file_names_that_are_not_utf8_become_escapes(make_result, make_photo, tmp_path) -> None:
    name = b"caf\xe9.jpg".decode("utf-8", "surrogateescape")
    for writer in (CocoWriter(tmp_path), PartsTableWriter(tmp_path)):
        _write(writer, [make_result(name)], make_photo)
    write_failures(tmp_path, [(name, "broken")])
    assert json.loads((tmp_path / "coco.json").read_bytes())["images"][0]["file_name"] == name
    assert r"caf\udce9.jpg,1," in (tmp_path / "parts.csv").read_text("utf-8")
    assert r"caf\udce9.jpg,broken" in (tmp_path / "failures.csv").read_text("utf-8")


def test_failures_are_listed_one_a_line_under_a_header(tmp_path: Path) -> None:
    write_failures(tmp_path, [])
    assert (tmp_path / "failures.csv").read_text() == "file,reason\n"
    write_failures(tmp_path, [("a, b.jpg", "cannot read:\n truncated")])
    assert (tmp_path / "failures.csv").read_text() == (
        'file,reason\n"a, b.jpg",cannot read: truncated\n'
    )


@pytest.mark.parametrize("writer", [CocoWriter, PartsTableWriter])
def test_an_unusable_folder_is_an_output_error(writer, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OutputError, match="file"):
        writer(tmp_path / "file")
