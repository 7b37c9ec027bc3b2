"""What is in a store: whoever reads the documented format gets what was computed."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import zlib
from dataclasses import fields

import numpy as np
import pytest
from safetensors.numpy import load_file
from segment_runs import SMALL, files

from partdino.describe.description import ImageDescription
from partdino.describe.placement import describe_images
from partdino.describe.settling import settle
from partdino.describe.source import Source
from partdino.options import Options
from partdino.runs.store import COLUMNS, DescriptionStore, open_stores

NAMES = [f"animal_{index:04d}.jpg" for index in range(8)]


@pytest.fixture(scope="module")
def described(photo_folder) -> ImageDescription:
    backbone, options, _ = settle(Options(**SMALL))
    (outcome,) = describe_images([Source("", photo_folder / NAMES[5])], backbone, options)
    return outcome.value


def assert_same(found: ImageDescription, expected: ImageDescription) -> None:
    for field in fields(ImageDescription):
        one, other = getattr(found, field.name), getattr(expected, field.name)
        if isinstance(other, np.ndarray):
            assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def test_every_field_of_a_description_has_a_column():
    assert set(COLUMNS) == {field.name for field in fields(ImageDescription)}


def test_the_store_holds_the_documented_files_and_no_others(store):
    blocks = [
        f"blocks/00000{number}.{kind}" for number in (0, 1) for kind in ("json", "safetensors")
    ]
    assert files(store) == sorted([*blocks, "failures.csv", "store.json"])


def test_a_description_comes_back_as_it_was(store, described):
    images = open_stores([store])
    assert [image.name for image in images.images] == NAMES
    assert_same(images.read(images.keys[5]), described)


def test_a_description_with_masks_comes_back_as_it_was(described, tmp_path):
    inside = np.arange(len(described.areas)) % 3 == 0
    masked = ImageDescription(**{**vars(described), "inside": inside})
    store = DescriptionStore(tmp_path)
    assert "a/b" not in store
    store.write("a/b", masked)
    assert "a/b" in store
    assert_same(store.read("a/b"), masked)


def test_what_fitting_does_not_need_can_be_left_out(store, described):
    images = open_stores([store])
    lean = images.read(images.keys[5], pixels=False)
    assert lean.cells is None
    np.testing.assert_array_equal(lean.features, described.features)


def test_another_tool_can_read_it(store, described):
    block = load_file(store / "blocks" / "000001.safetensors")
    np.testing.assert_array_equal(block["1/features"], described.features)
    assert block["1/size"].tolist() == list(described.size)
    cells = np.load(io.BytesIO(zlib.decompress(block["1/cells"].tobytes())))
    np.testing.assert_array_equal(cells, described.cells)
    assert block["1/cells"].nbytes < described.cells.size / 4


def test_the_index_lists_the_images_and_the_checksum(store, photo_folder):
    index = json.loads((store / "blocks" / "000001.json").read_text())
    content = (store / "blocks" / "000001.safetensors").read_bytes()
    assert index["sha256"] == hashlib.sha256(content).hexdigest()
    assert index["bytes"] == len(content)
    assert [image["name"] for image in index["images"]] == NAMES[4:]
    assert index["images"][0]["photo"] == str(photo_folder / NAMES[4])


def test_the_header_tells_how_it_was_made(store):
    header = json.loads((store / "store.json").read_text())
    assert (header["schema"], header["images"], header["shard"]) == (2, 8, "1/1")
    assert header["options"]["image_size"] == SMALL["image_size"]
    assert header["options"]["regions"] == "felzenszwalb"  # resolved
    assert "parts" not in header["options"]
    assert len(header["weights"]["sha256"]) == 64


def test_failures_are_kept_and_tried_again(features, photo_folder, tmp_path):
    photos = tmp_path / "photos"
    photos.mkdir()
    good = (photo_folder / NAMES[0]).read_bytes()
    for name in ("a.jpg", "b.jpg"):
        (photos / name).write_bytes(good)
    (photos / "b.jpg").write_text("no image")
    out = tmp_path / "store"
    result = features(out, photos=photos)
    assert result.code == 1 and "1 images failed" in result.stderr
    assert [image.failure is None for image in open_stores([out]).images] == [True, False]
    with (out / "failures.csv").open() as stream:
        assert [row["file"] for row in csv.DictReader(stream)] == ["b.jpg"]
    (photos / "b.jpg").write_bytes(good)
    assert features(out, "--resume", photos=photos).code == 0
    assert features(tmp_path / "fresh", photos=photos).code == 0
    for name in files(out):
        assert (out / name).read_bytes() == (tmp_path / "fresh" / name).read_bytes()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("size", (2**20, 2**20)),
        ("areas", 2**40),
        ("areas", np.iinfo(np.int64).max),
        ("regions", 2**30),
    ],
)
def test_numbers_that_would_fill_the_memory_are_no_description(described, field, value):
    """Label maps are made as large as `size` says, sums as long as the largest of `regions`."""
    if field != "size":
        array = getattr(described, field).astype(np.int64)
        array[0] = value
        value = array
    with pytest.raises(ValueError, match=r"pixels|cannot be"):
        ImageDescription(**{**vars(described), field: value}).check()
    described.check()
