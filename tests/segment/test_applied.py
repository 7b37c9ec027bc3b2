"""`partdino apply`: new photos get the parts of a review, by name."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from safetensors import safe_open
from safetensors.numpy import save_file
from segment_runs import files, label_map

from partdino.errors import ModelError
from partdino.files import file_sha256
from partdino.parts.model_file import load_model, save_model
from partdino.runs.review import (
    Division,
    PartReview,
    Review,
    Split,
    label_lookup,
    read_review,
    write_review,
)
from partdino.runs.review.finished import open_run

K = 4
SAID = {
    1: PartReview(name="body", colour="#102030"),
    2: PartReview(background=True),
    4: PartReview(merged_into=1),
}


@pytest.fixture(scope="module")
def reviewed(finished_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The eight photos: 1 and 4 are the body, 2 is background, a half of 3 is the foot."""
    out = tmp_path_factory.mktemp("reviewed") / "run"
    shutil.copytree(finished_run, out)
    run = open_run(out)
    clusters = tuple(run.halves(Review(run.model_sha256), 3))
    said = {**SAID, 5: PartReview(name="foot")}
    write_review(out, Review(run.model_sha256, 1, said, splits={5: Split(3, clusters)}))
    return out


@pytest.fixture(scope="module")
def applied(partdino: Callable, reviewed: Path, photo_folder: Path) -> Path:
    """The same photos, labelled with the model of the review."""
    model = reviewed.parent / "named.safetensors"
    done = partdino("apply", reviewed, "--out", model)
    assert done.code == 0, done.stderr
    assert "part 1: body\n" in done.stderr and "part 3: foot (part 5 of the review)" in done.stderr
    out = reviewed.parent / "new"
    done = partdino("segment", photo_folder, "--out", out, "--model", model)
    assert done.code == 0, done.stderr
    return out


def test_the_same_photos_get_the_reviewed_parts(applied: Path, reviewed: Path):
    run = open_run(reviewed)
    review = read_review(reviewed, run.model_sha256, K)
    renumbered = np.array([0, 1, 0, 2, 0, 3], np.uint8)
    agree = []
    for image in run.images:
        before = label_lookup(review, K)[Division(reviewed, review, K).result(image).label_map]
        agree.append((label_map(applied, image.name) == renumbered[before]).mean())
    assert np.mean(agree) > 0.97 and min(agree) > 0.9  # but for borders that pass into each other
    assert files(applied / "labels") == files(reviewed / "labels")


def test_every_output_has_the_names(applied: Path):
    coco = json.loads((applied / "coco.json").read_text())
    names = ["body", "part_03", "foot"]
    assert [(c["id"], c["name"]) for c in coco["categories"]] == list(enumerate(names, start=1))
    with (applied / "parts.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {(int(row["part"]), row["name"]) for row in rows} == set(enumerate(names, start=1))
    run = json.loads((applied / "run.json").read_text())
    assert run["parts"]["found"] == run["options"]["parts"] == 3
    assert run["parts"]["named"]["1"] == {"name": "body", "colour": "#102030"}
    legend = np.asarray(Image.open(applied / "contact_sheet.jpg").convert("RGB")).astype(int)[:260]
    assert (np.abs(legend - (0x10, 0x20, 0x30)).max(axis=-1) < 8).any()


def test_the_next_review_begins_with_the_names(partdino: Callable, applied: Path, tmp_path: Path):
    run = open_run(applied)
    review = read_review(applied, run.model_sha256, 3)
    assert [review.parts[part].name for part in (1, 2, 3)] == ["body", "part_03", "foot"]
    assert run.halves(review, 1)  # clusters that are background are no part's
    done = partdino("export", applied, "--format", "cvat", "--out", tmp_path / "cvat")
    assert done.code == 0 and "review.json" not in done.stderr
    labels = json.loads((tmp_path / "cvat" / "labels.json").read_text())
    assert [label["name"] for label in labels] == ["body", "part_03", "foot"]
    again = Review(run.model_sha256, 1, {**review.parts, 3: PartReview(background=True)})
    shutil.copytree(applied, tmp_path / "run")
    write_review(tmp_path / "run", again)
    assert partdino("apply", tmp_path / "run", "--out", tmp_path / "a.safetensors").code == 0
    assert load_model(tmp_path / "a.safetensors").naming.names == ("body", "part_03")


def test_label_and_merge_know_the_names(partdino, applied, reviewed, photo_folder, tmp_path):
    options = ("--backbone", "efficientnet-lite2", "--boundaries", "none", "--workers", 0)
    sizes = ("--image-size", 224, "--region-size", 128)
    store, model = tmp_path / "store", reviewed.parent / "named.safetensors"
    assert partdino("features", photo_folder, "--out", store, *options, *sizes).code == 0
    shards = [tmp_path / "1", tmp_path / "2"]
    for number, shard in enumerate(shards, start=1):
        more = ("--model", model, "--shard", f"{number}/2", "--workers", 0)
        done = partdino("label", store, "--out", shard, *more)
        assert done.code == 0, done.stderr
    done = partdino("merge", tmp_path / "whole", *shards)
    assert done.code == 0, done.stderr
    for name in ("coco.json", "parts.csv", "contact_sheet.jpg"):
        assert (tmp_path / "whole" / name).read_bytes() == (applied / name).read_bytes()
    assert files(tmp_path / "whole" / "review") == files(applied / "review")


def test_a_model_without_names_is_written_as_before(finished_run: Path, tmp_path: Path):
    path = finished_run / "parts.safetensors"
    with safe_open(path, framework="numpy") as file:
        document = json.loads(file.metadata()["partdino"])
    assert document["format"] == 2 and "naming" not in document
    save_model(load_model(path), tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    "naming",
    [
        None,
        {},
        {"names": ["a", "b"]},
        {"names": ["a", "a", "b"]},
        {"names": ["a", "b", ""]},
        {"names": ["a", "b", 3]},
        {"names": "abc"},
        {"names": ["a", "b", "c", "d"], "colours": ["#000000"] * 4},
        {"colours": ["#00000"] * 3},
        {"colours": ["red", "#000000", "#000000"]},
        {"background": 1},
        {"background": False},
    ],
)
def test_names_that_are_none_are_refused(reviewed, applied, tmp_path, naming):
    path = reviewed.parent / "named.safetensors"
    with safe_open(path, framework="numpy") as file:
        document = json.loads(file.metadata()["partdino"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    document["naming"] = {**document["naming"], **naming} if naming else naming
    save_file(tensors, tmp_path / "odd.safetensors", {"partdino": json.dumps(document)})
    with pytest.raises(ModelError, match="is damaged"):
        load_model(tmp_path / "odd.safetensors")


def test_what_cannot_be_applied_is_named(partdino, finished_run, reviewed, tmp_path):
    model = tmp_path / "a.safetensors"
    nothing = partdino("apply", finished_run, "--out", model)
    assert nothing.code == 2 and "nothing is said of the parts" in nothing.stderr
    out = tmp_path / "run"
    shutil.copytree(reviewed, out)
    sha256 = file_sha256(out / "parts.safetensors")
    review = read_review(out, sha256, K)
    all_gone = {part: PartReview(background=True) for part in review.numbers(K)}
    write_review(out, replace(review, parts=all_gone))
    none = partdino("apply", out, "--out", model)
    assert none.code == 2 and "calls all parts background" in none.stderr
    write_review(out, review)
    model.write_text("my diary")
    assert "exists; pass --overwrite" in partdino("apply", out, "--out", model).stderr
    (tmp_path / "diary.txt").write_text("my diary")
    diary = partdino("apply", out, "--out", tmp_path / "diary.txt", "--overwrite")
    assert diary.code == 2 and "is no model" in diary.stderr
    (out / "parts.safetensors").write_bytes((reviewed.parent / "named.safetensors").read_bytes())
    other = partdino("apply", out, "--out", tmp_path / "b.safetensors")
    assert other.code == 2 and "is not the model" in other.stderr
