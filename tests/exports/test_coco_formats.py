"""COCO in all its kinds, loaded by pycocotools, datumaro (as in CVAT) and supervision."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from export_runs import (
    NAMES,
    PARTS,
    SIZE,
    iou,
    is_drawn_with_its_outline,
    make_labels,
    needs,
    part_of,
    write_run,
)
from PIL import Image
from pycocotools.coco import COCO

from partdino.runs.exports.finished import FinishedRun
from partdino.runs.writers import CocoWriter

FORMATS = {"coco": 1.0, "coco-polygons": 0.99}  # and the least IoU of a mask


@pytest.mark.parametrize("format", FORMATS)
def test_pycocotools_draws_the_label_maps(export, label_maps, format):
    coco = COCO(export(format) / "coco.json")
    assert [image["file_name"] for image in coco.loadImgs(coco.getImgIds())] == NAMES
    for image in coco.imgs.values():
        assert (image["height"], image["width"]) == SIZE
        labels = label_maps[image["file_name"]]
        annotations = coco.imgToAnns[image["id"]]
        assert [a["category_id"] for a in annotations] == sorted(set(labels[labels > 0].tolist()))
        for annotation in annotations:
            mask = labels == annotation["category_id"]
            assert iou(coco.annToMask(annotation) > 0, mask) >= FORMATS[format]
            assert annotation["area"] == mask.sum()
            assert annotation["score"] == 0.75


def test_coco_is_that_of_the_run(export, run):
    writer = CocoWriter(run.parent)
    for recorded in FinishedRun(run):
        writer.add(recorded.recall(run))
    writer.close()
    assert (export("coco") / "coco.json").read_bytes() == (run.parent / "coco.json").read_bytes()


@pytest.mark.parametrize("format", FORMATS)
def test_supervision_loads_the_label_maps(export, label_maps, format):
    supervision = needs("supervision")
    out = export(format, "--with-photos")
    loaded = supervision.DetectionDataset.from_coco(
        images_directory_path=str(out / "images"),
        annotations_path=str(out / "coco.json"),
        force_masks=True,
    )
    assert loaded.classes == [f"part_{part:02d}" for part in range(1, PARTS + 1)]
    assert len(loaded) == len(NAMES)
    for path, image, detections in loaded:
        labels = label_maps[Path(path).relative_to(out / "images").as_posix()]
        assert image.shape[:2] == labels.shape
        found = (
            dict(zip(detections.class_id + 1, detections.mask, strict=True)) if detections else {}
        )
        assert set(found) == set(labels[labels > 0].tolist())
        for part, mask in found.items():
            if format == "coco":
                np.testing.assert_array_equal(mask, labels == part)
            else:
                assert is_drawn_with_its_outline(mask, labels == part)


def test_cvat_takes_the_archive(export, label_maps, tmp_path):
    datumaro = needs("datumaro")
    out = export("cvat")
    with zipfile.ZipFile(out / "annotations.zip") as archive:
        assert archive.namelist() == ["annotations/instances_default.json"]
        archive.extractall(tmp_path / "task")
    (tmp_path / "task" / "images").mkdir()  # CVAT has the photos elsewhere
    loaded = datumaro.Dataset.import_from(str(tmp_path / "task"), "coco_instances")
    _compare(_masks(loaded), _by_stem(label_maps), 1.0)
    labels = json.loads((out / "labels.json").read_text())
    assert [label["name"] for label in labels] == [f"part_{p:02d}" for p in range(1, PARTS + 1)]
    assert labels[0]["color"] == "#ff9200" and labels[0]["attributes"] == []


def test_datumaro_loads_the_panoptic_segments(export, label_maps):
    datumaro = needs("datumaro")
    out = export("coco-panoptic", "--with-photos")
    loaded = datumaro.Dataset.import_from(str(out), "coco_panoptic")
    _compare(_masks(loaded), _by_stem(label_maps), 1.0)


def test_panoptic_is_as_its_specification_says(export, label_maps):
    out = export("coco-panoptic") / "annotations"
    document = json.loads((out / "panoptic_default.json").read_text())
    images = {image["id"]: image["file_name"] for image in document["images"]}
    assert list(images.values()) == NAMES
    for annotation in document["annotations"]:
        labels = label_maps[images[annotation["image_id"]]]
        png = np.asarray(Image.open(out / "panoptic_default" / annotation["file_name"]), np.int64)
        ids = png @ (1, 256, 65536)
        segments = {segment["id"]: segment for segment in annotation["segments_info"]}
        assert set(segments) == set(np.unique(ids)) - {0}
        for number, segment in segments.items():
            mask = labels == segment["category_id"]
            np.testing.assert_array_equal(ids == number, mask)
            assert segment["area"] == mask.sum()


@pytest.mark.parametrize("format", ["coco", "coco-polygons", "cvat", "coco-panoptic"])
def test_ids_of_an_existing_file_are_kept(partdino, run, tmp_path, format):
    known = {NAMES[2]: 900, NAMES[0]: 7, "other.jpg": 2000}
    images = [{"id": number, "file_name": name} for name, number in known.items()]
    (tmp_path / "old.json").write_text(json.dumps({"images": images}))
    out = tmp_path / "out"
    result = partdino(
        *("export", run, "--format", format, "--out", out),
        *("--coco-ids", tmp_path / "old.json"),
    )
    assert result.code == 0 and f"{len(NAMES) - 2} images are not in" in result.stderr
    if format == "cvat":
        with zipfile.ZipFile(out / "annotations.zip") as archive:
            document = json.loads(archive.read("annotations/instances_default.json"))
    else:
        document = json.loads(next(out.rglob("*.json")).read_text())
    ids = {image["file_name"]: image["id"] for image in document["images"]}
    assert (ids[NAMES[2]], ids[NAMES[0]]) == (900, 7)
    others = [ids[name] for name in NAMES if name not in known]
    assert others == list(range(2001, 2001 + len(others)))
    assert {a["image_id"] for a in document["annotations"]} <= set(ids.values())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "no COCO file"),
        ('{"images": [{"id": 1, "file_name": "a"}, {"id": 1, "file_name": "b"}]}', "one id"),
        (None, "No such file"),
    ],
)
def test_a_file_without_ids_is_refused(partdino, run, tmp_path, text, said):
    if text is not None:
        (tmp_path / "old.json").write_text(text)
    result = partdino(
        *("export", run, "--format", "coco", "--out", tmp_path / "out"),
        *("--coco-ids", tmp_path / "old.json"),
    )
    assert result.code == 2 and said in result.stderr and "old.json" in result.stderr


def test_categories_are_the_parts_that_are_exported(export):
    document = json.loads((export("coco", "--drop", 2) / "coco.json").read_text())
    categories = {category["id"]: category["name"] for category in document["categories"]}
    assert categories == {1: "part_01", 3: "part_03", 4: "part_04"}
    assert {a["category_id"] for a in document["annotations"]} == {1, 3, 4}


def test_photos_of_other_kinds_are_named_as_their_copies(partdino, tmp_path):
    Image.new("RGB", SIZE[::-1]).save(tmp_path / "a.gif")
    run = write_run(tmp_path / "run", {"a.gif": make_labels(0)}, tmp_path)
    out = tmp_path / "out"
    partdino("export", run, "--format", "coco", "--out", out, "--with-photos")
    document = json.loads((out / "coco.json").read_text())
    assert document["images"][0]["file_name"] == "a.jpg"
    assert Image.open(out / "images" / "a.jpg").format == "JPEG"


def _by_stem(label_maps: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {str(Path(name).with_suffix("")): labels for name, labels in label_maps.items()}


def _masks(loaded) -> dict[str, dict[int, np.ndarray]]:
    """Return the masks of datumaro's data set by image and part."""
    from datumaro.components.annotation import AnnotationType

    labels = loaded.categories()[AnnotationType.label]
    return {
        item.id: {
            part_of(labels[annotation.label].name): annotation.image.astype(bool)
            for annotation in item.annotations
            if annotation.type == AnnotationType.mask
        }
        for item in loaded
    }


def _compare(
    found: dict[str, dict[int, np.ndarray]], label_maps: dict[str, np.ndarray], least: float
) -> None:
    assert set(found) == set(label_maps)
    for name, labels in label_maps.items():
        assert set(found[name]) == set(labels[labels > 0].tolist())
        for part, mask in found[name].items():
            assert iou(mask, labels == part) >= least
