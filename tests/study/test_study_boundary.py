"""`partdino study boundary`, from images to its files."""

from __future__ import annotations

import csv
import json
import shutil

import numpy as np
import pytest

from partdino.describe.settling import settled_of
from partdino.describe.source import Source
from partdino.evaluation.study.ridge_cache import RidgeCache
from partdino.evaluation.study.straddling import GROUPS
from partdino.options import Options

SMALL = (
    *("--backbone", "efficientnet-lite2", "--image-size", 192, "--device", "cpu"),
    *("--boundaries", "gradient", "--region-size", 96, "--parts", 4, "--threshold", 0.2),
)
FILES = {
    *("patches.csv", "summary.csv", "summary.json", "boundary.png", "boundary.svg"),
    "failures.csv",
}


@pytest.fixture(scope="session")
def study(partdino, tmp_path_factory):
    """Run ``partdino study boundary ARGUMENTS...`` at a small size, descriptions kept."""
    cache = tmp_path_factory.mktemp("cache")
    return lambda *rest: partdino("study", "boundary", *SMALL, "--cache", cache, *rest)


@pytest.fixture(scope="session")
def true_parts(study, coco_root, tmp_path_factory):
    """A study of a benchmark within its true masks."""
    out = tmp_path_factory.mktemp("true_parts")
    arguments = (coco_root, "--benchmark", "coco-parts", "--foreground", "ground-truth")
    finished = study(*arguments, "--out", out, "--json")
    assert finished.code == 0, finished.stderr
    return out, json.loads(finished.stdout), arguments


def read_rows(path):
    return list(csv.DictReader(path.open()))


def test_the_files_say_the_same(true_parts):
    out, document, _ = true_parts
    assert {path.name for path in out.iterdir()} == FILES
    assert json.loads((out / "summary.json").read_text()) == document
    rows = read_rows(out / "patches.csv")
    assert len({row["image"] for row in rows}) == document["studied_images"] == 12
    for definition, column in (("image", "group"), ("truth", "true_group")):
        counts = {group: sum(row[column] == group for row in rows) for group in GROUPS}
        assert counts == document["patches"][definition]
    flat = read_rows(out / "summary.csv")
    assert len(flat) == len(document["comparisons"]) == 2 * 3 * 3 * 2
    for entry, line in zip(document["comparisons"], flat, strict=True):
        delta = entry["effects"]["cliffs_delta"]["value"]
        assert line["cliffs_delta"] == ("" if delta is None else f"{delta:.4f}")


def test_groups_are_compared_as_they_are_in_the_table(true_parts):
    out, document, _ = true_parts
    rows = read_rows(out / "patches.csv")
    for entry in document["comparisons"]:
        if entry["temperature"] != 0.1 or entry["definition"] != "image":
            continue
        kinds = {"all": ("inner", "silhouette")}.get(entry["straddling"], (entry["straddling"],))
        for side, wanted in (("straddling_patches", kinds), ("interior", ("interior",))):
            values = [float(row[entry["measure"]]) for row in rows if row["group"] in wanted]
            assert entry[side]["n"] == len(values)
            if values:
                assert entry[side]["median"] == pytest.approx(np.median(values), abs=1e-4)


def test_the_values_are_in_range(true_parts):
    for row in read_rows(true_parts[0] / "patches.csv"):
        assert 0 <= float(row["entropy"]) <= 1 and 0.25 <= float(row["confidence"]) <= 1
        assert 1 <= int(row["part"]) <= 4 and 0 <= float(row["boundary_strength"]) <= 1
        if row["group"] != "silhouette":
            assert (row["group"] == "inner") == (float(row["boundary_strength"]) >= 0.2)


def test_within_true_masks_both_silhouettes_are_one(true_parts):
    for row in read_rows(true_parts[0] / "patches.csv"):
        assert (row["group"] == "silhouette") == (row["true_group"] == "silhouette")


def test_again_from_the_cache_to_the_byte(study, true_parts, tmp_path):
    out, _, arguments = true_parts
    finished = study(*arguments, "--out", tmp_path)
    assert "12 of 12 images are in" in finished.stderr
    for name in FILES:
        assert (tmp_path / name).read_bytes() == (out / name).read_bytes(), name
    assert "truth" in finished.stdout and "foreground patches of 12" in finished.stdout
    assert max(map(len, finished.stdout.splitlines())) <= 80 and "…" not in finished.stdout


@pytest.mark.parametrize("damage", [b"", b"PK", slice(0, 200), slice(0, -9)])
def test_a_damaged_ridge_file_is_made_again(photo_folder, tmp_path, monkeypatch, damage):
    edges = np.zeros((40, 60), np.float32)
    edges[20] = 1
    cache = RidgeCache(tmp_path, None)
    monkeypatch.setattr(RidgeCache, "_detect", lambda *_: edges)
    first = cache.read("a", None, (40, 60))
    (path,) = tmp_path.rglob("*.npz")
    whole = path.read_bytes()
    path.write_bytes(damage if isinstance(damage, bytes) else whole[damage])
    again = cache.read("a", None, (40, 60))
    assert path.read_bytes() == whole
    for ridges in (again, cache.read("a", None, (40, 60))):
        np.testing.assert_array_equal(ridges.pixels, first.pixels)
        np.testing.assert_array_equal(ridges.strength, first.strength)


def test_photos_with_a_bad_one(study, photo_folder, tmp_path):
    photos = shutil.copytree(photo_folder, tmp_path / "photos")
    (photos / "broken.jpg").write_bytes(b"not an image")
    out = tmp_path / "out"
    finished = study(photos, "--out", out, "--foreground", "none", "--quiet")
    assert finished.code == 1
    (failure,) = read_rows(out / "failures.csv")
    assert failure["file"] == "broken.jpg"
    document = json.loads((out / "summary.json").read_text())
    assert document["studied_images"] == 8 and list(document["patches"]) == ["image"]
    assert document["patches"]["image"]["silhouette"] == 0  # the images are all object
    assert {row["true_group"] for row in read_rows(out / "patches.csv")} == {""}
    refused = study(photos, "--out", out, "--foreground", "none")
    assert (refused.code, refused.stderr.count("\n")) == (2, 1)
    assert "pass --overwrite" in refused.stderr
    run = tmp_path / "run"
    (run / "labels").mkdir(parents=True)
    for mark in ("run.json", "store.json"):
        (run / mark).write_text("{}")
        shutil.copy(out / "failures.csv", run)  # as runs and stores have it
        refused = study(photos, "--out", run, "--foreground", "none", "--overwrite")
        assert refused.code == 2 and f"{run} holds a run or a store" in refused.stderr
        (run / mark).unlink()
    for name in ("patches.csv", "boundary.png", "summary.json"):  # of somebody else
        ours = (out / name).read_bytes()
        (out / name).write_text("image,mine")
        refused = study(photos, "--out", out, "--foreground", "none", "--overwrite")
        assert refused.code == 2 and f"{name} is no" in refused.stderr
        assert (out / name).read_text() == "image,mine"
        (out / name).write_bytes(ours)
    again = study(photos, "--out", out, "--foreground", "none", "--overwrite", "--images", 3)
    assert json.loads((out / "summary.json").read_text())["studied_images"] == 3
    assert again.code == 0 and "warning: 3 images are few" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--parts", 1), "Invalid value for '--parts'"),
        (("--parts", "auto"), "Invalid value for '--parts'"),
        (("--parts", "4-6"), "Invalid value for '--parts'"),
        (("--split", "train"), "--split needs a --benchmark"),
        (("--boundaries", "none"), "needs a boundary map"),
        (("--foreground", "ground-truth"), "needs a --benchmark"),
        (("--foreground", "masks"), "go together"),
        (("--benchmark", "cub"), "CUB_200_2011"),
        (("--benchmark", "cub", "more"), "takes one INPUT"),
        (("--benchmark", "nabirds"), "nabirds"),
    ],
)
def test_what_cannot_be_studied_is_said(study, photo_folder, tmp_path, arguments, reason):
    finished = study(photo_folder, "--out", tmp_path / "out", *arguments)
    assert finished.code == 2 and reason in finished.stderr
    assert "Traceback" not in finished.stderr


def test_crests_are_those_of_the_precision(tmp_path, monkeypatch):
    options = Options(boundaries="hed", precision="bf16", device="cpu", image_size=64)
    given = []

    def detect(image, *rest):
        given.append(rest)
        return np.zeros(image.shape[:2], np.float32)

    monkeypatch.setattr("partdino.evaluation.study.ridge_cache.detect_boundaries", detect)
    source = Source("photo", np.zeros((64, 64, 3), np.uint8))
    RidgeCache(tmp_path, settled_of(options)).read("photo", source, (64, 64))
    assert given == [("hed", "cpu", "bf16")]


def test_keypoints_are_no_masks(study, cub_root, tmp_path):
    arguments = ("--benchmark", "cub", "--foreground", "ground-truth")
    finished = study(cub_root, "--out", tmp_path / "out", *arguments)
    assert finished.code == 2 and "no masks" in finished.stderr
