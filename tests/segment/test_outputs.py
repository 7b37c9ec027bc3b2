"""`partdino segment`: every output is there, and all of them say the same."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image
from pycocotools.coco import COCO
from safetensors import safe_open
from segment_runs import PARTS, files, label_bytes, label_map, table

from partdino.evaluation.scoring.label_maps import read_label_map
from partdino.options import OPTION_NAMES
from partdino.runs.result_log import read_results
from partdino.runs.writers.palette import part_colours
from partdino.version import __version__

NAMES = [f"animal_{index:04d}.jpg" for index in range(8)]


def test_the_folder_holds_every_output_and_nothing_else(finished_run):
    expected = [f"labels/animal_{index:04d}.png" for index in range(8)]
    expected += [f"overlays/animal_{index:04d}.jpg" for index in range(8)]
    expected += [f"review/animal_{index:04d}.npz" for index in range(8)]
    expected += ["coco.json", "config.yaml", "contact_sheet.jpg", "failures.csv"]
    expected += ["parts.csv", "parts.safetensors", "results.jsonl", "run.json"]
    assert files(finished_run) == sorted(expected)


@pytest.mark.parametrize("name", NAMES)
def test_labels_are_grey_at_the_size_of_the_photo(finished_run, photo_folder, name):
    image = Image.open(finished_run / "labels" / Path(name).with_suffix(".png"))
    assert image.mode == "L"
    assert image.size == Image.open(photo_folder / name).size
    assert set(np.unique(image)) <= set(range(PARTS + 1))


def test_every_part_and_the_background_occur(finished_run):
    found = set().union(*(np.unique(label_map(finished_run, name)) for name in NAMES))
    assert found == set(range(PARTS + 1))


def test_coco_masks_are_the_labels(finished_run):
    coco = COCO(finished_run / "coco.json")
    assert [coco.imgs[i]["file_name"] for i in sorted(coco.imgs)] == NAMES
    assert [c["name"] for c in coco.loadCats(coco.getCatIds())] == [
        f"part_{part:02d}" for part in range(1, PARTS + 1)
    ]
    for image in coco.imgs.values():
        labels = label_map(finished_run, image["file_name"])
        assert labels.shape == (image["height"], image["width"])
        annotations = coco.imgToAnns[image["id"]]
        assert {a["category_id"] for a in annotations} == set(np.unique(labels)) - {0}
        for annotation in annotations:
            mask = labels == annotation["category_id"]
            np.testing.assert_array_equal(coco.annToMask(annotation), mask)
            rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
            corner, size = (columns[0], rows[0]), (np.ptp(columns) + 1, np.ptp(rows) + 1)
            assert annotation["bbox"] == [*corner, *size]
            assert annotation["area"] == mask.sum()
            assert 1 / PARTS <= annotation["score"] <= 1


def test_the_table_is_the_labels(finished_run):
    rows = table(finished_run / "parts.csv")
    expected = {(name, part) for name in NAMES for part in np.unique(label_map(finished_run, name))}
    assert [(row["image"], int(row["part"])) for row in rows] == sorted(
        (name, part) for name, part in expected if part > 0
    )
    for row in rows:
        mask = label_map(finished_run, row["image"]) == int(row["part"])
        y, x = np.nonzero(mask)
        assert float(row["area_fraction"]) == pytest.approx(mask.mean(), rel=1e-5)
        centroid = float(row["centroid_x"]), float(row["centroid_y"])
        assert centroid == pytest.approx((x.mean() + 0.5, y.mean() + 0.5), abs=0.006)
        assert (int(row["box_x"]), int(row["box_y"])) == (x.min(), y.min())


def test_table_and_coco_agree(finished_run):
    coco = json.loads((finished_run / "coco.json").read_text())
    rows = table(finished_run / "parts.csv")
    scores = [annotation["score"] for annotation in coco["annotations"]]
    assert scores == [float(row["mean_confidence"]) for row in rows]


def test_pictures_open_at_a_sensible_size(finished_run, photo_folder):
    for name in NAMES:
        overlay = Image.open(finished_run / "overlays" / name)
        assert overlay.size == Image.open(photo_folder / name).size
        assert np.asarray(overlay).std() > 5
    width, height = Image.open(finished_run / "contact_sheet.jpg").size
    assert width > 500 and height > 500


def test_run_json_tells_what_was_done(finished_run):
    run = json.loads((finished_run / "run.json").read_text())
    assert run["version"] == __version__
    nothing_odd = {"failed": 0, "without_foreground": 0, "without_photo": 0}
    assert run["counts"] == {"images": 8, "labelled": 8, **nothing_odd}
    assert 0 <= run["parts"].pop("steadiness") <= 1
    assert run["parts"] == {"asked": PARTS, "chosen": PARTS, "found": PARTS}
    assert run["weights"]["backbone"] == run["options"]["backbone"] == "efficientnet-lite2"
    assert len(run["weights"]["sha256"]) == 64
    assert set(run["options"]) == set(OPTION_NAMES)
    assert run["options"]["regions"] == "felzenszwalb"  # resolved
    assert len(run["notes"]) == 2
    stages = {"decode", "boundaries", "regions", "features", "pooling", "fit", "label", "write"}
    assert set(run["seconds"]) == stages
    assert 0 < sum(run["seconds"].values()) <= run["seconds_total"] * 1.01


def test_no_failures_leave_a_header(finished_run):
    assert (finished_run / "failures.csv").read_text() == "file,reason\n"


def test_the_model_is_tensors_and_its_configuration(finished_run):
    with safe_open(finished_run / "parts.safetensors", framework="numpy") as file:
        document = json.loads(file.metadata()["partdino"])
        centroids, parts = file.get_tensor("centroids"), file.get_tensor("parts")
    assert len(centroids) == len(parts)
    assert list(np.unique(parts)) == list(range(document["options"]["parts"]))
    run = json.loads((finished_run / "run.json").read_text())
    assert document["weights_sha256"] == run["weights"]["sha256"]
    assert document["options"].items() <= run["options"].items()


def test_the_written_configuration_gives_the_same_run(
    finished_run, photo_folder, partdino, tmp_path
):
    config, out = finished_run / "config.yaml", tmp_path / "out"
    assert set(yaml.safe_load(config.read_text())) == set(OPTION_NAMES)
    result = partdino("segment", photo_folder, "--out", out, "--config", config)
    assert result.code == 0, result.stderr
    assert label_bytes(out) == label_bytes(finished_run)
    assert (out / "config.yaml").read_text() == config.read_text()
    assert (out / "coco.json").read_bytes() == (finished_run / "coco.json").read_bytes()


def test_equal_names_in_several_folders_do_not_collide(segment, photo_folder, tmp_path):
    for folder, name in (("a", NAMES[0]), ("b", NAMES[1]), ("b/c d", NAMES[2])):
        (tmp_path / "in" / folder).mkdir(parents=True)
        (tmp_path / "in" / folder / "photo.jpg").write_bytes((photo_folder / name).read_bytes())
    out = tmp_path / "out"
    assert segment(tmp_path / "in", out).code == 0
    names = ["a/photo.jpg", "b/c d/photo.jpg", "b/photo.jpg"]
    assert files(out / "labels") == ["a/photo.png", "b/c d/photo.png", "b/photo.png"]
    assert files(out / "overlays") == names
    images = json.loads((out / "coco.json").read_text())["images"]
    assert [image["file_name"] for image in images] == names
    assert {row["image"] for row in table(out / "parts.csv")} == set(names)


def test_indexed_label_maps_of_older_versions_stay_readable(finished_run, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(finished_run, out)
    for result in read_results(out / "results.jsonl"):
        path = out / "labels" / f"{result.name}.png"
        expected = label_map(out, result.name)
        indexed = Image.fromarray(expected)
        indexed.putpalette(part_colours().tobytes())
        indexed.save(path)
        np.testing.assert_array_equal(result.recall(out).label_map, expected)
        np.testing.assert_array_equal(read_label_map(path), expected)
