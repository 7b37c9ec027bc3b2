"""YOLO segmentation, loaded by Ultralytics, supervision and a strict reader of the format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import yaml
from export_runs import EMPTY, NAMES, PARTS, SIZE, iou, is_drawn_with_its_outline, needs
from pycocotools import mask as coco_mask
from segment_runs import files


def test_polygons_are_the_label_maps(export, label_maps):
    out = export("yolo-seg")
    assert len(files(out)) == len(NAMES) + 1
    for name, labels in label_maps.items():
        found = _read((out / "labels" / name).with_suffix(".txt"))
        assert set(found) == {part - 1 for part in labels[labels > 0].tolist()}
        for index, polygons in found.items():
            drawn = coco_mask.decode(coco_mask.merge(coco_mask.frPyObjects(polygons, *SIZE)))
            assert iou(drawn > 0, labels == index + 1) >= 0.99


def test_supervision_loads_every_polygon(export, label_maps):
    supervision = needs("supervision")
    out = export("yolo-seg", "--with-photos")
    loaded = supervision.DetectionDataset.from_yolo(
        images_directory_path=str(out / "images"),
        annotations_directory_path=str(out / "labels"),
        data_yaml_path=str(out / "data.yaml"),
        force_masks=True,
    )
    assert loaded.classes == [f"part_{part:02d}" for part in range(1, PARTS + 1)]
    # It does not look into nested folders, as Ultralytics does.
    assert len(loaded) == len([name for name in NAMES if "/" not in name])
    for path, _, detections in loaded:
        labels = label_maps[Path(path).relative_to(out / "images").as_posix()]
        for index in set((labels[labels > 0] - 1).tolist()):
            drawn = detections.mask[detections.class_id == index].any(axis=0)
            assert is_drawn_with_its_outline(drawn, labels == index + 1)


def test_ultralytics_loads_every_polygon(export, label_maps, monkeypatch, tmp_path):
    monkeypatch.setenv("YOLO_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("YOLO_OFFLINE", "1")
    # In no extra: it needs PyTorch, and brings a second OpenCV.
    utils = needs("ultralytics.data.utils")
    from ultralytics.data.dataset import YOLODataset

    out = export("yolo-seg", "--with-photos")
    data = utils.check_det_dataset(str(out / "data.yaml"), autodownload=False)
    assert data["names"] == {part - 1: f"part_{part:02d}" for part in range(1, PARTS + 1)}
    loaded = YOLODataset(img_path=data["train"], data=data, task="segment", augment=False)
    found = {Path(each["im_file"]).relative_to(out / "images").as_posix() for each in loaded.labels}
    assert found == set(NAMES)
    for each in loaded.labels:
        labels = label_maps[Path(each["im_file"]).relative_to(out / "images").as_posix()]
        assert tuple(each["shape"]) == SIZE
        drawn = np.zeros((PARTS, *SIZE), bool)
        for index, shares in zip(each["cls"][:, 0].astype(int), each["segments"], strict=True):
            corners = (shares * SIZE[::-1]).round().reshape(1, -1)
            drawn[index] |= utils.polygon2mask(SIZE, corners) > 0
        assert all(is_drawn_with_its_outline(drawn[i], labels == i + 1) for i in range(PARTS))


def test_an_empty_photo_has_an_empty_file(export):
    path = export("yolo-seg") / "labels" / EMPTY
    assert path.with_suffix(".txt").read_bytes() == b""


def test_data_yaml_names_what_ultralytics_looks_for(export):
    out = export("yolo-seg", "--with-photos", "--drop", 2)
    document = yaml.safe_load((out / "data.yaml").read_text())
    assert document["names"] == {0: "part_01", 1: "part_03", 2: "part_04"}
    for photos in (document["train"], document["val"]):
        for name in NAMES:
            # As its `img2label_paths` does.
            label = str(out / photos / name).rsplit("/images/", 1)
            assert Path("/labels/".join(label)).with_suffix(".txt").is_file()
            assert (out / photos / name).is_file()


def _read(path: Path) -> dict[int, list[list[float]]]:
    """Return the polygons of every class, in pixels."""
    found: dict[int, list[list[float]]] = {}
    for line in path.read_text().splitlines():
        index, *values = line.split(" ")
        shares = np.array(values, float).reshape(-1, 2)
        assert len(shares) >= 4 and shares.min() >= 0 and shares.max() <= 1
        found.setdefault(int(index), []).append((shares * SIZE[::-1]).ravel().tolist())
    return found
