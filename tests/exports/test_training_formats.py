"""What people train with: Pascal VOC and Hugging Face, loaded by their own code."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from export_runs import NAMES, needs, part_of
from PIL import Image

from partdino.runs.writers.palette import part_colours


def test_datumaro_loads_the_classes_of_voc(export, label_maps):
    datumaro = needs("datumaro")
    out = export("voc", "--with-photos")
    loaded = datumaro.Dataset.import_from(str(out), "voc_segmentation")
    kind = datumaro.components.annotation.AnnotationType
    names = loaded.categories()[kind.label]
    found = {}
    for item in loaded:
        masks = {names[a.label].name: a.image for a in item.annotations if a.type == kind.mask}
        masks.pop("background")
        found[item.id] = {part_of(name): mask for name, mask in masks.items()}
    assert set(found) == {str(Path(name).with_suffix("")) for name in NAMES}
    for name, labels in label_maps.items():
        parts = found[str(Path(name).with_suffix(""))]
        assert set(parts) == set(labels[labels > 0].tolist())
        for part, mask in parts.items():
            np.testing.assert_array_equal(mask, labels == part)


def test_voc_is_as_torchvision_reads_it(export, label_maps):
    out = export("voc", "--with-photos")
    stems = (out / "ImageSets" / "Segmentation" / "default.txt").read_text("utf-8").splitlines()
    assert stems == [str(Path(name).with_suffix("")) for name in NAMES]
    for stem, name in zip(stems, NAMES, strict=True):
        mask = Image.open(out / "SegmentationClass" / f"{stem}.png")
        assert mask.mode == "P"
        np.testing.assert_array_equal(np.asarray(mask), label_maps[name])
        assert (out / "JPEGImages" / name).is_file()
    lines = (out / "labelmap.txt").read_text().splitlines()
    colours = {line.split(":")[0]: line.split(":")[1] for line in lines[1:]}
    assert colours["background"] == "0,0,0"
    assert colours["part_03"] == ",".join(map(str, part_colours()[3].tolist()))


def test_datasets_loads_photos_and_masks(export, run, label_maps, tmp_path):
    needs("datasets.load")  # not `datasets`: a folder of the tests has that name
    import datasets

    out = export("hf")
    loaded = datasets.load_dataset(
        "imagefolder", data_dir=str(out), split="train", cache_dir=str(tmp_path / "cache")
    )
    lines = [json.loads(line) for line in (out / "metadata.jsonl").read_text().splitlines()]
    assert [line["file_name"] for line in lines] == [f"images/{name}" for name in NAMES]
    assert len(loaded) == len(NAMES)
    names = [
        Path(row["image"]["path"]).relative_to(out / "images").as_posix()
        for row in loaded.cast_column("image", datasets.Image(decode=False))
    ]
    assert sorted(names) == NAMES
    for name, row in zip(names, loaded, strict=True):
        np.testing.assert_array_equal(np.asarray(row["mask"]), label_maps[name])
        assert row["image"].size == row["mask"].size
