"""What people annotate in: Label Studio, labelme, ImageJ, read by their own code."""

from __future__ import annotations

import json
import zipfile
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import numpy as np
import pytest
from export_runs import EMPTY, NAMES, PARTS, SIZE, needs, part_of
from matplotlib.path import Path as Outline
from segment_runs import files

from partdino.runs.exports.brush_rle import encode_brush


@pytest.mark.parametrize("more", [(), ("--with-photos",)])
def test_label_studio_decodes_the_label_maps(export, label_maps, more):
    brush = needs("label_studio_sdk.converter.brush")
    out = export("label-studio", *more)
    tasks = json.loads((out / "tasks.json").read_text())
    assert len(tasks) == len(NAMES)
    for name, task in zip(NAMES, tasks, strict=True):
        address = urlsplit(task["data"]["image"])
        assert address.path == "/data/local-files/" and not address.fragment
        place = parse_qs(address.query)["d"]
        assert place == [f"images/{name}" if more else name]
        assert not more or (out / place[0]).is_file()
        [prediction] = task["predictions"]
        found = {}
        for region in prediction["result"]:
            assert (region["original_height"], region["original_width"]) == SIZE
            [label] = region["value"]["brushlabels"]
            rgba = brush.decode_rle(region["value"]["rle"]).reshape(*SIZE, 4)
            found[part_of(label)] = rgba[..., 3] == 255
        _compare(found, label_maps[name])


def test_the_configuration_of_label_studio_has_our_colours(export):
    root = ElementTree.parse(export("label-studio") / "config.xml").getroot()
    labels = root.findall("BrushLabels/Label")
    assert [label.get("value") for label in labels] == [f"part_{p:02d}" for p in range(1, 5)]
    assert labels[0].get("background") == "#ff9200"
    image, brush = root.find("Image"), root.find("BrushLabels")
    assert image.get("value") == "$image"
    assert (brush.get("name"), brush.get("toName")) == ("parts", image.get("name"))


@pytest.mark.parametrize("height", [1, 3, 300])
def test_brush_runs_of_every_length(height):
    brush = needs("label_studio_sdk.converter.brush")
    rng = np.random.default_rng(height)
    for mask in (
        rng.random((height, 11)) < 0.5,
        np.kron(rng.random((height, 3)) < 0.5, np.ones((1, 100))) > 0,
        np.ones((height, 301), bool),
        np.zeros((height, 301), bool),
    ):
        decoded = brush.decode_rle(encode_brush(mask)).reshape(*mask.shape, 4)
        np.testing.assert_array_equal(decoded, 255 * mask[..., None].repeat(4, axis=2))


def test_labelme_loads_the_label_maps(export, label_maps):
    labelme = needs("labelme")
    out = export("labelme", "--with-photos")
    assert len(files(out)) == 2 * len(NAMES)
    for name, labels in label_maps.items():
        path = (out / name).with_suffix(".json")
        loaded = labelme.LabelFile(str(path))
        assert (path.parent / loaded.image_path) == out / name
        found = {}
        for shape in loaded.shapes:
            [[left, top], [right, bottom]] = np.array(shape["points"], int)
            found[part_of(shape["label"])] = np.zeros(SIZE, bool)
            found[part_of(shape["label"])][top : bottom + 1, left : right + 1] = shape["mask"]
        _compare(found, labels)


def test_labelme_files_are_as_its_own(export):
    document = json.loads((export("labelme") / NAMES[0]).with_suffix(".json").read_text())
    assert document["imagePath"] == NAMES[0] and document["imageData"] is None
    assert (document["imageHeight"], document["imageWidth"]) == SIZE
    assert {shape["shape_type"] for shape in document["shapes"]} == {"mask"}


def test_imagej_selections_are_the_label_maps(export, label_maps):
    roifile = needs("roifile")
    out = export("imagej-roi")
    assert len(files(out)) == len(NAMES) - 1
    assert not (out / "rois" / EMPTY).with_suffix(".zip").exists()
    for name in set(NAMES) - {EMPTY}:
        path = (out / "rois" / name).with_suffix(".zip")
        found = {}
        with zipfile.ZipFile(path) as archive:
            for entry in archive.namelist():
                roi = roifile.ImagejRoi.frombytes(archive.read(entry))
                assert f"{roi.name}.roi" == entry and roi.composite
                mask = _even_odd(roi.coordinates(multi=True))
                y, x = np.nonzero(mask)
                box = (y.min(), x.min(), y.max() + 1, x.max() + 1)
                assert (roi.top, roi.left, roi.bottom, roi.right) == box
                found[part_of(roi.name)] = mask
        _compare(found, label_maps[name])


def test_imagej_selections_have_our_colours(export):
    roifile = needs("roifile")
    out = export("imagej-roi")
    rois = roifile.roiread((out / "rois" / NAMES[0]).with_suffix(".zip"))
    assert len(rois) == PARTS
    assert rois[0].stroke_color == bytes((255, 255, 146, 0))


def _even_odd(outlines: list[np.ndarray]) -> np.ndarray:
    """Fill outlines as Java does for such a path: what is within an odd number is inside."""
    rows, columns = np.indices(SIZE)
    middles = np.stack([columns.ravel(), rows.ravel()], axis=1) + 0.5
    within = [Outline(outline).contains_points(middles) for outline in outlines]
    return (np.sum(within, axis=0) % 2 == 1).reshape(SIZE)


def _compare(found: dict[int, np.ndarray], labels: np.ndarray) -> None:
    assert set(found) == set(labels[labels > 0].tolist())
    for part, mask in found.items():
        np.testing.assert_array_equal(mask, labels == part)
