"""COCO files as annotation tools write them: brush masks, slivers, photos that EXIF turns."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from pycocotools import mask as coco_mask

from partdino.errors import DatasetError, InputError
from partdino.evaluation.datasets import CocoParts, MaskSample, PartImageNetSeg
from partdino.evaluation.datasets.frame import annotated_upright, is_turned
from partdino.evaluation.methods.sources import as_source
from partdino.evaluation.scoring.label_maps import LabelFolder

HEIGHT, WIDTH = 30, 40
FUZZ = int(os.environ.get("PARTDINO_FUZZ", "100"))


def write(root: Path, annotations: list[dict], size=(HEIGHT, WIDTH), orientation=1, **image):
    """Write a data set of one photo; return its only sample."""
    (root / "annotations").mkdir(parents=True, exist_ok=True)
    (root / "images" / "test").mkdir(parents=True, exist_ok=True)
    exif = Image.Exif()
    exif[0x0112] = orientation
    stored = size[::-1] if orientation > 4 else size
    pixels = np.zeros((*stored, 3), np.uint8)
    pixels[:4, :4] = 255  # the stored corner
    Image.fromarray(pixels).save(root / "images" / "test" / "a.png", exif=exif)
    entry = {"id": 1, "file_name": "a.png", "height": size[0], "width": size[1], **image}
    document = {
        "categories": [{"id": 1, "name": "head"}, {"id": 2, "name": "body"}],
        "images": [entry],
        "annotations": [{"id": n, "image_id": 1, **a} for n, a in enumerate(annotations)],
    }
    (root / "annotations" / "test.json").write_text(json.dumps(document))
    return CocoParts(root).samples("score")[0]


def square(left: int, top: int, side: int) -> list[int]:
    right, bottom = left + side, top + side
    return [left, top, right, top, right, bottom, left, bottom]


def brush(left: int, top: int, side: int, compressed: bool) -> dict:
    mask = np.zeros((HEIGHT, WIDTH), np.uint8, order="F")
    mask[top : top + side, left : left + side] = 1
    runs = coco_mask.encode(mask)
    if compressed:
        return {"size": [HEIGHT, WIDTH], "counts": runs["counts"].decode()}
    flat = mask.ravel(order="F")
    edges = np.flatnonzero(np.diff(flat, prepend=0, append=flat[-1]))
    return {"size": [HEIGHT, WIDTH], "counts": np.diff([0, *edges, flat.size]).tolist()}


@pytest.mark.parametrize("compressed", [True, False])
def test_a_brush_mask_is_a_part(tmp_path, compressed):
    head = {"category_id": 1, "segmentation": brush(2, 2, 8, compressed), "iscrowd": 1}
    body = {"category_id": 2, "segmentation": [square(20, 10, 10)], "iscrowd": 0}
    truth = write(tmp_path, [head, body]).draw()
    assert (truth == 1).sum() == 64 and (truth == 2).sum() == 100


def test_partimagenet_skips_crowds_to_the_letter(tmp_path):
    head = {"category_id": 1, "segmentation": brush(2, 2, 8, True), "iscrowd": 1}
    body = {"category_id": 2, "segmentation": [square(20, 10, 10)], "iscrowd": 0}
    write(tmp_path, [head, body])
    text = (tmp_path / "annotations" / "test.json").read_text()
    (tmp_path / "annotations" / "train.json").write_text(text)
    truth = PartImageNetSeg(tmp_path).samples("score")[0].draw()
    assert set(np.unique(truth)) == {0, 2}


@pytest.mark.parametrize("sliver", [[5, 5, 6, 6], [5, 5], [], [5, 5, 5, 5]])
@pytest.mark.parametrize("first", [True, False])
def test_slivers_beside_good_polygons_draw_nothing(tmp_path, sliver, first):
    good = square(10, 10, 8)
    polygons = [sliver, good] if first else [good, sliver]
    annotation = {"category_id": 1, "segmentation": polygons, "bbox": [0, 0, 40, 30]}
    assert (write(tmp_path, [annotation]).draw() == 1).sum() == 64


def test_the_box_stands_in_for_slivers_alone(tmp_path):
    annotation = {"category_id": 1, "segmentation": [[5, 5, 6, 6], [7, 7]], "bbox": [3, 4, 10, 6]}
    truth = write(tmp_path, [annotation]).draw()
    assert (truth[4:10, 3:13] == 1).all() and truth.sum() == 60


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("frame", ["stored", "upright"])
def test_the_frame_is_that_of_the_annotations(tmp_path, orientation, frame):
    size = (HEIGHT, WIDTH)
    sample = write(tmp_path, [{"category_id": 1, "segmentation": [square(2, 2, 8)]}], size)
    if orientation > 1:
        sample = write(
            tmp_path, [{"category_id": 1, "segmentation": [square(2, 2, 8)]}], size, orientation
        )
    if frame == "stored" and orientation > 4:  # the file says what is stored
        document = json.loads((tmp_path / "annotations" / "test.json").read_text())
        document["images"][0].update(height=size[1], width=size[0])
        (tmp_path / "annotations" / "test.json").write_text(json.dumps(document))
        sample = CocoParts(tmp_path).samples("score")[0]
    loaded = as_source(sample, masked=False).load(10_000)
    assert loaded.pixels.shape[:2] == sample.size
    assert sample.upright == (orientation > 1 and not (frame == "stored" and orientation > 4))
    warned = any("EXIF" in line for line in CocoParts(tmp_path).identity.warnings)
    assert warned == (orientation in (2, 3, 4))


@pytest.mark.parametrize("orientation", [5, 6, 7, 8])
@pytest.mark.parametrize("upright", [True, False])
def test_label_maps_of_the_other_frame_are_turned(tmp_path, orientation, upright):
    sample = write(
        tmp_path, [{"category_id": 1, "segmentation": [square(2, 2, 8)]}], orientation=orientation
    )
    if not upright:
        document = json.loads((tmp_path / "annotations" / "test.json").read_text())
        document["images"][0].update(height=WIDTH, width=HEIGHT)
        (tmp_path / "annotations" / "test.json").write_text(json.dumps(document))
        sample = CocoParts(tmp_path).samples("score")[0]
    photo = as_source(sample, masked=False).load(10_000).pixels[..., 0]
    other = as_source(
        type(sample)(sample.name, sample.path, sample.size, sample.draw, not sample.upright), False
    ).load(10_000)
    labels = tmp_path / "labels"
    labels.mkdir()
    Image.fromarray((other.pixels[..., 0] > 0).astype(np.uint8)).save(labels / "a.png")
    turned = LabelFolder(labels, [sample])(sample)[0]
    np.testing.assert_array_equal(turned, photo > 0)


def test_a_label_map_on_its_side_without_a_reason_is_refused(tmp_path):
    sample = write(tmp_path, [{"category_id": 1, "segmentation": [square(2, 2, 8)]}])
    (tmp_path / "labels").mkdir()
    Image.fromarray(np.zeros((WIDTH, HEIGHT), np.uint8)).save(tmp_path / "labels" / "a.png")
    with pytest.raises(InputError, match="on its side"):
        LabelFolder(tmp_path / "labels", [sample])(sample)


@pytest.mark.parametrize("size", [(1000, 1010), (101, 100), (64, 65)])
@pytest.mark.parametrize("scale", [1, 0.5])
def test_the_frame_of_a_photo_that_is_nearly_square(tmp_path, size, scale):
    shown = tuple(round(side * scale) for side in size)
    expected = None if scale < 1 and max(size) < 1000 else False
    assert is_turned(shown, size) is expected
    assert is_turned(shown[::-1], size) is (None if expected is None else True)
    path = tmp_path / "a.png"
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(np.zeros(size, np.uint8)).save(path, exif=exif)
    unsure = (True, True)
    assert annotated_upright(path, shown) == (unsure if expected is None else (False, False))
    assert annotated_upright(path, shown[::-1]) == (unsure if expected is None else (True, False))
    assert annotated_upright(path, (50, 50)) == unsure


def test_a_nearly_square_label_map_is_turned_or_counted(tmp_path):
    path = tmp_path / "a.png"
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(np.zeros((100, 102), np.uint8)).save(path, exif=exif)
    sample = MaskSample("a.png", path, (102, 100), lambda: None, upright=True)
    (tmp_path / "labels").mkdir()
    stored = np.zeros((100, 102), np.uint8)
    stored[:10] = 3
    Image.fromarray(stored).save(tmp_path / "labels" / "a.png")
    folder = LabelFolder(tmp_path / "labels", [sample])
    np.testing.assert_array_equal(folder(sample)[0], np.rot90(stored, -1))
    assert not folder.open
    Image.fromarray(stored[:30, :30]).save(tmp_path / "labels" / "a.png")
    np.testing.assert_array_equal(folder(sample)[0], stored[:30, :30])
    assert folder.open == {"a.png"}


NUMBERS = st.one_of(st.integers(-5, 50), st.floats(), st.just(10**400))
ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=8), st.dictionaries(st.sampled_from(["size", "counts"]), inner)
    ),
    max_leaves=12,
)


@settings(
    max_examples=FUZZ, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    where=st.sampled_from(["categories", "images", "annotations", "entry", "image", "category"]),
    field=st.sampled_from(
        (
            *("segmentation", "bbox", "category_id", "image_id", "area", "iscrowd", "id", "name"),
            *("file_name", "height", "width"),
        )
    ),
    value=ANYTHING,
)
def test_whatever_a_field_holds_ends_in_one_line(tmp_path, where, field, value):
    sample = {"category_id": 1, "segmentation": [square(2, 2, 8)], "bbox": [2, 2, 8, 8]}
    write(tmp_path, [sample])
    document = json.loads((tmp_path / "annotations" / "test.json").read_text())
    if where in document:
        document[where] = value
    else:
        kind = {"entry": "annotations", "image": "images", "category": "categories"}[where]
        document[kind][0][field] = value
    (tmp_path / "annotations" / "test.json").write_text(json.dumps(document))
    try:
        for sample in CocoParts(tmp_path).samples("score"):
            assert sample.draw().shape == sample.size
    except DatasetError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize(
    "segmentation",
    [
        [[float("inf"), 0, 1, 1, 2, 2]],
        [[1e12, 0, 5, 1e12, 0, 0]],
        [[1e9, 0, 5, 1e9, 0, 0]],
        [[float("nan"), 0, 1, 1, 2, 2]],
        [[1, 1, 5, 1, 5, 5, 1]],
        {"size": [HEIGHT, WIDTH], "counts": [5, 5]},
        {"size": [HEIGHT, WIDTH], "counts": [5, HEIGHT * WIDTH]},
        {"size": [HEIGHT, WIDTH], "counts": "zzzz~~~~"},
        {"size": [HEIGHT, WIDTH], "counts": ""},
        {"size": [HEIGHT, WIDTH + 1], "counts": [5, 5]},
    ],
)
def test_what_would_crash_or_draw_anything_is_refused(tmp_path, segmentation):
    sample = write(
        tmp_path, [{"category_id": 1, "segmentation": segmentation, "bbox": [1, 1, 2, 2]}]
    )
    with pytest.raises(DatasetError, match=r"neither polygons nor a mask|a mask of"):
        sample.draw()


@pytest.mark.parametrize("sliver", [[5, 5, 5, 5, 5, 5], [0, 0, 5, 5, 9, 9]])
def test_corners_that_enclose_nothing_are_slivers(tmp_path, sliver):
    good = square(10, 10, 8)
    beside = {"category_id": 1, "segmentation": [sliver, good], "bbox": [0, 0, 40, 30]}
    assert (write(tmp_path / "a", [beside]).draw() == 1).sum() == 64
    alone = {"category_id": 1, "segmentation": [sliver], "bbox": [3, 4, 10, 6]}
    assert (write(tmp_path / "b", [alone]).draw() == 1).sum() == 60


def test_a_file_name_that_no_disk_takes_is_a_missing_image(tmp_path):
    write(tmp_path, [{"category_id": 1, "segmentation": [square(2, 2, 8)]}])
    document = json.loads((tmp_path / "annotations" / "test.json").read_text())
    document["images"][0]["file_name"] = "a" * 5000
    (tmp_path / "annotations" / "test.json").write_text(json.dumps(document))
    with pytest.raises(DatasetError, match="none of the annotated images is there"):
        CocoParts(tmp_path)


def test_partial_scores_what_is_there_and_says_so(partdino, coco_root, tmp_path):
    samples = CocoParts(coco_root).samples("score")
    for sample in samples[:4]:
        path = (tmp_path / "labels" / sample.name).with_suffix(".png")
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(sample.draw()).save(path)
    command = ("eval", "coco-parts", coco_root, "--labels", tmp_path / "labels")
    assert "--partial" in partdino(*command).stderr
    out = tmp_path / "out"
    result = partdino(*command, "--partial", "--out", out)
    assert result.code == 0, result.stderr
    document = json.loads((out / "results.json").read_text())
    assert document["partial"] == {"scored": 4, "images": 6} and not document["comparable"]
    assert document["summary"][0]["scores"]["nmi"]["mean"] == pytest.approx(100)
    assert "partial: label maps of 4 of 6 images" in result.stderr
