"""Exports of a run that tells the objects of a photo apart, as its review has them."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from export_runs import iou, needs, part_of, write_photo, write_run
from PIL import Image
from pycocotools import mask as coco_mask
from pycocotools.coco import COCO
from segment_runs import content, files

from partdino.runs.review import PartReview, Review, write_review

SIZE = (46, 67)
NAME, EMPTY = "a b/two.png", "none.png"


def two_objects() -> np.ndarray:
    """Two objects of parts 1, 2 and 3, the right one larger; part 4 is a bridge between them."""
    labels = np.zeros(SIZE, np.uint8)
    labels[10:30, 5:25] = 1
    labels[14:20, 8:12] = 2
    labels[40:43, 10:14] = 3  # a piece of the left one
    labels[5:40, 40:65] = 1
    labels[10:30, 45:55] = 2
    labels[15:18, 50:52] = 0
    labels[20, 25:40] = 4
    return labels


LABELS = two_objects()
OBJECTS = np.where(LABELS > 0, 1 + (np.arange(SIZE[1]) >= 30), 0) * (LABELS != 4)
PRESENT = [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2)]  # object and part


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which the bridge is one of the parts, and its review, which calls it background."""
    root = tmp_path_factory.mktemp("objects")
    labels = {NAME: LABELS, EMPTY: np.zeros_like(LABELS)}
    for name in labels:
        write_photo(root / "photos" / name, 1, np.random.default_rng(0))
    out = write_run(root / "out", labels, root / "photos")
    (out / "run.json").write_text(json.dumps({"fingerprint": {"instances": 0.25}}))
    write_review(out, Review("", 1, {4: PartReview(background=True)}))
    return out


@pytest.fixture
def export(partdino: Callable, run: Path, tmp_path: Path) -> Callable[..., Path]:
    """Export the run; return the folder."""

    def call(format: str, *more: object) -> Path:
        before = content(run)
        result = partdino("export", run, "--format", format, "--out", tmp_path / "x", *more)
        assert result.code == 0, result.stderr
        assert content(run) == before
        return tmp_path / "x"

    return call


def mask_of(instance: int, part: int) -> np.ndarray:
    return (instance == OBJECTS) & (part == LABELS)


@pytest.mark.parametrize(("format", "least"), [("coco", 1.0), ("coco-polygons", 0.99)])
def test_coco_has_the_parts_of_each_object(export, format, least):
    coco = COCO(export(format) / "coco.json")
    found = [(a["instance"], a["category_id"]) for a in coco.anns.values()]
    assert found == PRESENT
    for annotation, key in zip(coco.anns.values(), PRESENT, strict=True):
        assert iou(coco.annToMask(annotation) > 0, mask_of(*key)) >= least
        assert annotation["area"] == mask_of(*key).sum()


def test_cvat_has_the_parts_of_each_object(export):
    with zipfile.ZipFile(export("cvat") / "annotations.zip") as archive:
        document = json.loads(archive.read("annotations/instances_default.json"))
    masks = [coco_mask.decode(a["segmentation"]) > 0 for a in document["annotations"]]
    assert len(masks) == len(PRESENT)
    for mask, key in zip(masks, PRESENT, strict=True):
        np.testing.assert_array_equal(mask, mask_of(*key))


def test_objects_do_not_depend_on_the_parts_that_are_exported(export):
    coco = COCO(export("coco", "--only", 2) / "coco.json")
    found = [(a["instance"], a["category_id"]) for a in coco.anns.values()]
    assert found == [(1, 2), (2, 2)]


def test_a_part_that_joins_two_objects_makes_them_one(partdino, run, tmp_path):
    (run / "review.json").rename(run / "hidden.json")
    try:
        partdino("export", run, "--format", "coco", "--out", tmp_path / "x")
    finally:
        (run / "hidden.json").rename(run / "review.json")
    coco = COCO(tmp_path / "x" / "coco.json")
    assert {a["instance"] for a in coco.anns.values()} == {1}
    assert [a["category_id"] for a in coco.anns.values()] == [1, 2, 3, 4]


def test_panoptic_segments_are_of_one_object(export):
    out = export("coco-panoptic") / "annotations"
    document = json.loads((out / "panoptic_default.json").read_text())
    annotation = document["annotations"][0]
    png = np.asarray(Image.open(out / "panoptic_default" / annotation["file_name"]), np.int64)
    ids = png @ (1, 256, 65536)
    segments = [(s["id"], s["category_id"], s["area"]) for s in annotation["segments_info"]]
    assert segments == [(256 * i + p, p, mask_of(i, p).sum()) for i, p in PRESENT]
    for instance, part in PRESENT:
        np.testing.assert_array_equal(ids == 256 * instance + part, mask_of(instance, part))
    assert not ids[OBJECTS == 0].any()


def test_yolo_has_one_object_after_the_other(export):
    lines = (export("yolo-seg") / "labels" / NAME).with_suffix(".txt").read_text().splitlines()
    found: dict[tuple[int, int], np.ndarray] = {}
    for line in lines:
        index, *values = line.split()
        corners = np.array(values, float).reshape(-1, 2) * SIZE[::-1]
        drawn = coco_mask.decode(
            coco_mask.merge(coco_mask.frPyObjects([corners.ravel().tolist()], *SIZE))
        )
        key = 1 + int(corners[:, 0].mean() >= 30), int(index) + 1
        found[key] = found.get(key, False) | (drawn > 0)
    assert list(found) == PRESENT
    assert all(iou(found[key], mask_of(*key)) >= 0.99 for key in PRESENT)


def test_binary_masks_are_of_one_object(export):
    out = export("binary")
    stems = {NAME: "a b/two", EMPTY: "none"}
    expected = {f"masks/part_0{p}/{i}/a b/two.png" for p in (1, 2, 3) for i in (1, 2)}
    assert set(files(out)) == expected | {f"masks/part_0{p}/1/none.png" for p in (1, 2, 3)}
    for instance in (1, 2):
        for part in (1, 2, 3):
            path = out / "masks" / f"part_0{part}" / str(instance) / f"{stems[NAME]}.png"
            np.testing.assert_array_equal(
                np.asarray(Image.open(path)), 255 * mask_of(instance, part)
            )


def test_crops_are_of_one_object(export):
    out = export("crops")
    assert files(out / "object") == ["1/a b/two.png", "2/a b/two.png"]
    assert files(out / "part_03") == ["1/a b/two.png"]
    for instance in (1, 2):
        mask = instance == OBJECTS
        y, x = (np.flatnonzero(mask.any(axis)) for axis in (1, 0))
        crop = np.asarray(Image.open(out / "object" / str(instance) / "a b" / "two.png"))
        box = slice(y[0], y[-1] + 1), slice(x[0], x[-1] + 1)
        np.testing.assert_array_equal(crop[..., 3], 255 * mask[box])


def test_label_maps_are_as_without_objects(export):
    mask = np.asarray(Image.open((export("masks") / "masks" / NAME).with_suffix(".png")))
    np.testing.assert_array_equal(mask, LABELS * (LABELS != 4))


def test_labelme_groups_the_shapes_of_an_object(export):
    labelme = needs("labelme")
    loaded = labelme.LabelFile(
        str((export("labelme", "--with-photos") / NAME).with_suffix(".json"))
    )
    assert [(s["group_id"], part_of(s["label"])) for s in loaded.shapes] == PRESENT
    for shape, key in zip(loaded.shapes, PRESENT, strict=True):
        [[left, top], [right, bottom]] = np.array(shape["points"], int)
        found = np.zeros(SIZE, bool)
        found[top : bottom + 1, left : right + 1] = shape["mask"]
        np.testing.assert_array_equal(found, mask_of(*key))


def test_label_studio_has_the_parts_of_each_object(export):
    brush = needs("label_studio_sdk.converter.brush")
    [task, empty] = json.loads((export("label-studio") / "tasks.json").read_text())
    regions = task["predictions"][0]["result"]
    assert empty["predictions"][0]["result"] == []
    assert [region["id"] for region in regions] == [f"part_0{p} {i}" for i, p in PRESENT]
    for region, (instance, part) in zip(regions, PRESENT, strict=True):
        assert region["value"]["brushlabels"] == [f"part_0{part}"]
        rgba = brush.decode_rle(region["value"]["rle"]).reshape(*SIZE, 4)
        np.testing.assert_array_equal(rgba[..., 3] == 255, mask_of(instance, part))


def test_imagej_has_a_selection_for_each_object(export):
    roifile = needs("roifile")
    path = (export("imagej-roi") / "rois" / NAME).with_suffix(".zip")
    rois = roifile.roiread(path)
    assert [roi.name for roi in rois] == [f"part_0{part} {instance}" for instance, part in PRESENT]
    for roi, key in zip(rois, PRESENT, strict=True):
        y, x = np.nonzero(mask_of(*key))
        box = (y.min(), x.min(), y.max() + 1, x.max() + 1)
        assert (roi.top, roi.left, roi.bottom, roi.right) == box


@pytest.mark.parametrize("format", ["coco-instances", "coco-panoptic"])
def test_datumaro_loads_a_mask_for_each_part_of_each_object(export, tmp_path, format):
    datumaro = needs("datumaro")
    if format == "coco-instances":
        with zipfile.ZipFile(export("cvat") / "annotations.zip") as archive:
            archive.extractall(tmp_path / "task")
        (tmp_path / "task" / "images").mkdir()
        loaded = datumaro.Dataset.import_from(str(tmp_path / "task"), "coco_instances")
    else:
        out = export(format, "--with-photos")
        loaded = datumaro.Dataset.import_from(str(out), "coco_panoptic")
    [masks] = [
        [a.image > 0 for a in item.annotations if a.type.name == "mask"]
        for item in loaded
        if item.id == "a b/two"
    ]
    expected = sorted(mask_of(*key).tobytes() for key in PRESENT)
    assert sorted(mask.tobytes() for mask in masks) == expected


@pytest.mark.parametrize("share", ['"x"', "2", "[]"])
def test_a_share_that_cannot_be_is_refused(partdino, run, tmp_path, share):
    before = (run / "run.json").read_bytes()
    (run / "run.json").write_text(f'{{"fingerprint": {{"instances": {share}}}}}')
    try:
        result = partdino("export", run, "--format", "coco", "--out", tmp_path / "x")
    finally:
        (run / "run.json").write_bytes(before)
    assert result.code == 2 and "run.json is damaged" in result.stderr
    assert "Traceback" not in result.stderr
