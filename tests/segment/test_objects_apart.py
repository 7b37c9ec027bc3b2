"""`--instances`: the objects of a photo told apart, by runs of two animals in a photo."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from pycocotools.coco import COCO
from segment_runs import DESCRIBING, PARTS, SMALL, content, files, flags, label_map, table, unfinish

from partdino.evaluation.synth.scene import render_animal
from partdino.files import file_sha256
from partdino.runs.review import Review, write_review
from partdino.runs.review.mend import Mend, pieces_hash, runs_of

SIDE = 128  # of an animal's photo
OBJECTS = {"1.jpg": 2, "2.jpg": 2, "3.jpg": 1, "4.jpg": 2}


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Photos of two animals side by side, one of one alone, and their true masks."""
    root, rng = tmp_path_factory.mktemp("pairs"), np.random.default_rng(5)
    for folder in ("photos", "masks"):
        (root / folder).mkdir()
    for name, count in OBJECTS.items():
        scenes = [render_animal(rng, SIDE, SIDE, species=1) for _ in range(count)]
        photo = np.hstack([scene.image for scene in scenes])
        mask = np.hstack([np.pad(scene.labels > 0, 6)[6:-6, 6:-6] for scene in scenes])
        for seam in range(SIDE, photo.shape[1], SIDE):
            mask[:, seam - 6 : seam + 6] = False  # apart at the size of regions, too
        Image.fromarray(photo).save(root / "photos" / name, quality=95)
        Image.fromarray(mask).save(root / "masks" / f"{Path(name).stem}.png")
    return root


@pytest.fixture(scope="module")
def run(segment: Callable, pairs: Path) -> Path:
    """The run over all photos; to be read only."""
    result = segment(pairs / "photos", pairs / "run", "--instances", masks=pairs / "masks")
    assert result.code == 0, result.stderr
    return pairs / "run"


def instances(out: Path, name: str) -> np.ndarray:
    """Return the map of the objects of a photo as another program reads it."""
    return np.asarray(Image.open(out / "instances" / f"{Path(name).stem}.png"))


def expected(labels: np.ndarray) -> np.ndarray:
    """Return the objects of a label map: the left and the right half of the photo have one each."""
    return (labels > 0) * (1 + (np.arange(labels.shape[1]) >= SIDE)).astype(np.uint8)


def test_the_map_tells_the_animals_apart(run):
    for name, count in OBJECTS.items():
        found, labels = instances(run, name), label_map(run, name)
        assert (found.dtype, found.max()) == (np.uint8, count)
        np.testing.assert_array_equal(found, expected(labels))
        assert (labels[:, :SIDE] > 0).any()


def test_label_maps_and_models_are_those_of_a_run_without(segment, pairs, run):
    out = pairs / "without"
    assert segment(pairs / "photos", out, masks=pairs / "masks").code == 0
    before, after = content(out), content(run)
    assert set(after) - set(before) == {f"instances/{Path(name).stem}.png" for name in OBJECTS}
    kinds = ("labels/", "overlays/", "review/", "parts.safetensors", "config.yaml", "failures.csv")
    same = [name for name in before if name.startswith(kinds)]
    assert len(same) == 3 * len(OBJECTS) + 3
    assert all(after[name] == before[name] for name in same)
    for name in ("run.json", "coco.json", "parts.csv", "results.jsonl"):
        assert b"instance" not in before[name] and b"objects" not in before[name]


def test_tables_have_the_parts_of_each_object(run):
    coco = COCO(run / "coco.json")
    rows = table(run / "parts.csv")
    assert list(rows[0])[:4] == ["image", "part", "instance", "area_fraction"]
    listed = [(row["image"], int(row["instance"]), int(row["part"])) for row in rows]
    names = {number: image["file_name"] for number, image in coco.imgs.items()}
    annotations = list(coco.anns.values())
    assert listed == [(names[a["image_id"]], a["instance"], a["category_id"]) for a in annotations]
    for row, annotation in zip(rows, annotations, strict=True):
        labels = label_map(run, row["image"])
        of_object = instances(run, row["image"]) == annotation["instance"]
        mask = of_object & (labels == annotation["category_id"])
        np.testing.assert_array_equal(coco.annToMask(annotation) > 0, mask)
        assert annotation["area"] == mask.sum()
        assert float(row["area_fraction"]) == pytest.approx(mask.mean(), rel=1e-5)
        assert float(row["centroid_x"]) == pytest.approx(np.nonzero(mask)[1].mean() + 0.5, abs=0.01)
    for name, count in OBJECTS.items():
        labels = label_map(run, name)
        pairs = np.stack([expected(labels), labels]).reshape(2, -1).T.tolist()
        assert {(i, p) for n, i, p in listed if n == name} == {(i, p) for i, p in pairs if p}
        assert {i for n, i, _ in listed if n == name} == set(range(1, count + 1))
    lines = (run / "results.jsonl").read_text().splitlines()[1:]
    assert {line["name"]: line["objects"] for line in map(json.loads, lines)} == OBJECTS


def test_measurements_are_of_each_object(partdino, run, tmp_path):
    assert partdino("measure", run, "--out", tmp_path, "--workers", 0).code == 0
    rows = table(tmp_path / "measurements.csv")
    assert list(rows[0])[:4] == ["image", "part", "instance", "photo_width_px"]
    shares: dict[tuple[str, str], float] = {}
    for row in rows:
        of_object = instances(run, row["image"]) == int(row["instance"])
        mask = of_object & (label_map(run, row["image"]) == int(row["part"]))
        assert int(row["area_px"]) == mask.sum()
        assert float(row["share_of_photo"]) == pytest.approx(mask.mean(), rel=1e-5)
        assert float(row["share_of_object"]) == pytest.approx(
            mask.sum() / of_object.sum(), rel=1e-5
        )
        edges = (mask[0], mask[-1], mask[:, 0], mask[:, -1])
        assert int(row["touches_frame"]) == any(edge.any() for edge in edges)
        key = row["image"], row["instance"]
        shares[key] = shares.get(key, 0) + float(row["share_of_object"])
    assert list(shares.values()) == pytest.approx([1.0] * sum(OBJECTS.values()), abs=1e-4)
    photos = table(tmp_path / "photos.csv")
    assert {row["image"]: int(row["objects"]) for row in photos} == OBJECTS
    for row in photos:
        labels = label_map(run, row["image"])
        assert int(row["object_area_px"]) == np.count_nonzero(labels)
        areas = [int(row[f"part_{part}_area_px"]) for part in range(1, PARTS + 1)]
        assert areas == np.bincount(labels.ravel(), minlength=PARTS + 1)[1:].tolist()


def test_objects_are_found_where_the_foreground_is(segment, pairs):
    out = pairs / "auto"
    assert segment(pairs / "photos", out, "--instances").code == 0
    for name in OBJECTS:
        np.testing.assert_array_equal(instances(out, name) > 0, label_map(out, name) > 0)


def test_without_a_foreground_there_are_no_objects(segment, pairs, tmp_path):
    result = segment(pairs / "photos", tmp_path / "out", "--instances", foreground="none")
    assert result.code == 2
    assert "--instances needs a foreground" in result.stderr.splitlines()[-1]
    assert not (tmp_path / "out" / "labels").exists()


def copied(root: Path, run: Path, to: Path) -> Path:
    """Copy a run with its photos and masks, and say in it where the copies are."""
    for folder in ("photos", "masks"):
        shutil.copytree(root / folder, to / folder, copy_function=shutil.copy2)
    shutil.copytree(run, to / "run", copy_function=shutil.copy2)
    for file in ("results.jsonl", "config.yaml", "run.json"):
        path = to / "run" / file
        path.write_text(path.read_text().replace(str(root), str(to)))
    return to / "run"


def test_what_goes_on_does_as_it_did(segment, pairs, run, tmp_path):
    out = copied(pairs, run, tmp_path)
    before = content(out, "run.json")
    lines = (out / "results.jsonl").read_bytes().splitlines(keepends=True)
    (out / "results.jsonl").write_bytes(b"".join(lines[:3]))
    for stem in ("3", "4"):
        (out / "instances" / f"{stem}.png").unlink()
    unfinish(out)
    for name in ("coco.json", "parts.csv"):
        (out / name).unlink()
    result = segment(tmp_path / "photos", out, "--resume", masks=tmp_path / "masks")
    assert result.code == 0, result.stderr
    after = content(out, "run.json")
    # Where it was finished, the model is fitted anew, to the same.
    assert after == before
    assert json.loads((out / "run.json").read_text())["fingerprint"]["instances"] == 0.25


@pytest.mark.parametrize("again", ["--resume", "--update"])
def test_a_run_without_cannot_go_on_with(segment, partdino, pairs, tmp_path, again):
    out = tmp_path / "out"
    assert segment(pairs / "photos", out, masks=pairs / "masks").code == 0
    before = content(out)
    command = ("segment", pairs / "photos", "--out", out, "--instances", again)
    more = flags({**SMALL, "masks": pairs / "masks"}) if again == "--resume" else ()
    result = partdino(*command, *more)
    assert result.code == 2 and "begun with another instances (None, now 0.25)" in result.stderr
    assert content(out) == before


def test_an_update_is_as_a_run_over_all_photos(partdino, segment, pairs, run, tmp_path):
    out = copied(pairs, run, tmp_path)
    shutil.copy(tmp_path / "photos" / "2.jpg", tmp_path / "photos" / "0.jpg")
    shutil.copy(tmp_path / "masks" / "2.png", tmp_path / "masks" / "0.png")
    shutil.copy(tmp_path / "photos" / "3.jpg", tmp_path / "photos" / "1.jpg")
    shutil.copy(tmp_path / "masks" / "3.png", tmp_path / "masks" / "1.png")
    (tmp_path / "photos" / "4.jpg").unlink()
    command = ("segment", tmp_path / "photos", "--out", out, "--update", "--drop-removed")
    result = partdino(*command, "--masks", tmp_path / "masks", "--workers", 0)
    assert result.code == 0, result.stderr
    fresh = tmp_path / "fresh"
    more = ("--model", out / "parts.safetensors", "--instances")
    assert segment(tmp_path / "photos", fresh, *more, masks=tmp_path / "masks").code == 0
    assert content(out, "run.json") == content(fresh, "run.json")
    assert files(out / "instances") == ["0.png", "1.png", "2.png", "3.png"]
    assert instances(out, "1.jpg").max() == 1


def test_a_refit_keeps_them_or_begins_them(partdino, segment, pairs, tmp_path):
    out = tmp_path / "out"
    assert segment(pairs / "photos", out, masks=pairs / "masks").code == 0
    command = ("segment", pairs / "photos", "--out", out, "--update", "--refit", "--workers", 0)
    for more in (("--instances",), ()):
        result = partdino(*command, "--masks", pairs / "masks", *more)
        assert result.code == 0, result.stderr
        for name in OBJECTS:
            np.testing.assert_array_equal(instances(out, name), expected(label_map(out, name)))


def test_a_run_without_leaves_a_folder_of_that_name(segment, pairs, run, tmp_path):
    out = copied(pairs, run, tmp_path)
    again = ("--overwrite",)
    assert segment(tmp_path / "photos", out, *again, masks=tmp_path / "masks").code == 0
    assert not (out / "instances").exists()  # gone with the results that they were of
    (out / "instances").mkdir()
    (out / "instances" / "1.png").write_text("mine")
    assert segment(tmp_path / "photos", out, *again, masks=tmp_path / "masks").code == 0
    assert content(out / "instances") == {"1.png": b"mine"}


def test_shards_are_merged_to_a_single_run(partdino, pairs, run, tmp_path):
    store, model = tmp_path / "store", run / "parts.safetensors"
    given = flags({**DESCRIBING, "masks": pairs / "masks"})
    assert partdino("features", pairs / "photos", "--out", store, *given).code == 0

    def label(out: str, *more: object) -> Path:
        command = ("label", store, "--model", model, "--out", tmp_path / out, "--workers", 0)
        assert partdino(*command, *more).code == 0
        return tmp_path / out

    shards = [label(f"shard{i}", "--shard", f"{i}/2", "--instances") for i in (1, 2)]
    assert partdino("merge", tmp_path / "merged", *shards).code == 0
    whole = label("whole", "--instances")
    assert content(tmp_path / "merged", "run.json") == content(whole, "run.json")
    assert content(whole / "instances") == content(run / "instances")
    other = label("other", "--shard", "2/2")
    result = partdino("merge", tmp_path / "mixed", shards[0], other)
    assert result.code == 2 and "they have another instances" in result.stderr


def test_the_share_of_an_object_is_said(partdino, pairs, run, tmp_path):
    store, out = tmp_path / "store", tmp_path / "out"
    given = flags({**DESCRIBING, "masks": pairs / "masks"})
    assert partdino("features", pairs / "photos", "--out", store, *given).code == 0
    command = ("label", store, "--model", run / "parts.safetensors", "--out", out, "--workers", 0)
    assert partdino(*command, "--instance-share", 1).code == 0
    for name in OBJECTS:  # no two animals have the same area
        np.testing.assert_array_equal(instances(out, name), label_map(out, name) > 0)
    assert {row["instance"] for row in table(out / "parts.csv")} == {"1"}
    result = partdino(*command, "--instances", "--resume")
    assert result.code == 2 and "another instances (1.0, now 0.25)" in result.stderr
    assert partdino(*command, "--resume").code == 0
    result = partdino(*command, "--instance-share", 2, "--overwrite")
    assert result.code == 2 and "--instance-share" in result.stderr


def test_objects_follow_a_photo_that_was_mended(partdino, pairs, run, tmp_path):
    out = copied(pairs, run, tmp_path)
    file = out / "review" / "1.npz"
    with np.load(file) as arrays:
        size = arrays["regions"].shape
    bridge = np.zeros(size, bool)
    bridge[size[0] // 2 : size[0] // 2 + 8] = True
    given = {1: runs_of(bridge)}
    mend = Mend(pieces_hash(file.read_bytes()), size, given)
    sha256 = file_sha256(out / "parts.safetensors")
    write_review(out, Review(sha256, 1, mended={"1.jpg": mend}))
    to = tmp_path / "coco"
    assert partdino("export", out, "--format", "coco", "--out", to).code == 0
    found = {}
    coco = COCO(to / "coco.json")
    for annotation in coco.anns.values():
        name = coco.imgs[annotation["image_id"]]["file_name"]
        found.setdefault(name, set()).add(annotation["instance"])
    assert {name: len(numbers) for name, numbers in found.items()} == {**OBJECTS, "1.jpg": 1}
    assert partdino("measure", out, "--out", tmp_path / "m", "--workers", 0).code == 0
    photos = table(tmp_path / "m" / "photos.csv")
    assert {row["image"]: int(row["objects"]) for row in photos} == {**OBJECTS, "1.jpg": 1}
