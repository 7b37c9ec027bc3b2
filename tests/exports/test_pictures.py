"""Formats that are pictures: masks, cut-outs, copies of the photos."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import cv2
import fsspec
import numpy as np
import pytest
import tifffile
from export_runs import EMPTY, NAMES, PARTS, SIZE, TURNED, make_labels, write_run
from PIL import Image
from segment_runs import files
from skimage.io import imread

from partdino.images import read_image
from partdino.runs.exports.formats.crops import cut_out
from partdino.runs.exports.photos import copy_suffix
from partdino.runs.writers.palette import part_colours

STEMS = {name: str(Path(name).with_suffix("")) for name in NAMES}


def _opencv(path: Path) -> np.ndarray:
    return cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_UNCHANGED)


@pytest.mark.parametrize("read", [_opencv, imread, lambda path: np.asarray(Image.open(path))])
def test_masks_are_the_parts_in_every_reader(export, label_maps, read):
    out = export("masks")
    assert files(out) == sorted(f"masks/{stem}.png" for stem in STEMS.values())
    for name, labels in label_maps.items():
        mask = read(out / "masks" / f"{STEMS[name]}.png")
        assert mask.dtype == np.uint8
        np.testing.assert_array_equal(mask, labels)


def test_tiff_masks_have_values_and_a_palette(export, label_maps):
    out = export("masks-tif")
    for name, labels in label_maps.items():
        path = out / "masks" / f"{STEMS[name]}.tif"
        np.testing.assert_array_equal(tifffile.imread(path), labels)
        image = Image.open(path)
        assert image.mode == "P"
        np.testing.assert_array_equal(np.asarray(image), labels)
        np.testing.assert_array_equal(np.asarray(image.convert("RGB")), part_colours()[labels])


def test_binary_masks_are_black_and_white(export, label_maps):
    out = export("binary", "--drop", 2)
    assert len(files(out)) == (PARTS - 1) * len(NAMES)
    for part in (1, 3, 4):
        for name, labels in label_maps.items():
            mask = np.asarray(Image.open(out / "masks" / f"part_{part:02d}" / f"{STEMS[name]}.png"))
            np.testing.assert_array_equal(mask, 255 * (labels == part))


def test_crops_are_the_pixels_of_the_upright_photo(export, run, label_maps):
    out = export("crops")
    assert not (out / "object" / f"{STEMS[EMPTY]}.png").exists()
    folders = {"object": None, **{f"part_{part:02d}": part for part in range(1, PARTS + 1)}}
    for name in set(NAMES) - {EMPTY}:
        photo = read_image(run.parent / "photos" / name).pixels
        for folder, part in folders.items():
            mask = label_maps[name] == part if part else label_maps[name] > 0
            crop = np.asarray(Image.open(out / folder / f"{STEMS[name]}.png"))
            y, x = (np.flatnonzero(mask.any(axis)) for axis in (1, 0))
            box = slice(y[0], y[-1] + 1), slice(x[0], x[-1] + 1)
            np.testing.assert_array_equal(crop[..., 3], 255 * mask[box])
            np.testing.assert_array_equal(crop[..., :3], photo[box] * mask[box][..., None])


def test_cut_out_is_as_small_as_the_area():
    photo = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)
    mask = np.zeros((4, 5), bool)
    mask[1, 2] = mask[2, 3] = True
    cut = cut_out(photo, mask)
    assert cut.shape == (2, 2, 4)
    assert cut[0, 0].tolist() == [*photo[1, 2], 255] and cut[0, 1].tolist() == [0, 0, 0, 0]


def test_upright_copies_need_no_exif(export, run):
    out = export("upright")
    assert files(out) == NAMES
    for name in NAMES:
        source, copy = run.parent / "photos" / name, out / name
        image = Image.open(copy)
        assert image.size == SIZE[::-1]
        assert image.getexif().get(0x0112, 1) == 1
        assert image.mode == "RGB"
        expected = read_image(source).pixels.astype(int)
        loss = np.abs(np.asarray(image).astype(int) - expected)
        if name not in TURNED and name not in ("cmyk.jpg", "deep.png"):
            assert copy.read_bytes() == source.read_bytes()
        elif name.endswith(".png"):
            assert not loss.any()
        else:
            assert loss.mean() < 2
        if name == "deep.png":
            assert copy.read_bytes()[24] == 8


def test_photos_lie_beside_the_masks_under_one_name(export):
    out = export("masks", "--with-photos")
    for name in NAMES:
        assert (out / "images" / name).is_file()
        assert (out / "masks" / f"{STEMS[name]}.png").is_file()


def test_kinds_that_few_tools_read_are_copied_as_jpeg():
    suffixes = [copy_suffix(f"a.b/c{s}") for s in (".NEF", ".heic", ".gif", ".TIF", "")]
    assert suffixes == [".jpg", ".jpg", ".jpg", ".TIF", ".jpg"]


def test_a_phones_heic_is_copied_upright_as_jpeg(partdino, tmp_path):
    pytest.importorskip(
        "pillow_heif", reason="pip install 'partdino[formats]'"
    ).register_heif_opener()
    photo = tmp_path / "photos" / "a.heic"
    photo.parent.mkdir()
    ramp = np.linspace(0, 255, SIZE[0] * SIZE[1]).reshape(*SIZE, 1).astype(np.uint8)
    Image.fromarray(ramp.repeat(3, axis=2)).save(photo)
    run = write_run(tmp_path / "run", {"a.heic": make_labels(0)}, photo.parent)
    result = partdino("export", run, "--format", "upright", "--out", tmp_path / "out")
    assert result.code == 0, result.stderr
    copy = Image.open(tmp_path / "out" / "a.jpg")
    assert copy.format == "JPEG" and copy.size == SIZE[::-1]
    loss = np.asarray(copy).astype(int) - read_image(photo).pixels
    assert np.abs(loss).mean() < 2


def test_photos_behind_addresses_are_copied(partdino, tmp_path):
    content = BytesIO()
    Image.new("RGB", SIZE[::-1], "red").save(content, "PNG")
    fsspec.filesystem("memory").pipe("/photos/a b.png", content.getvalue())
    run = write_run(tmp_path / "run", {"a b.png": make_labels(0)}, tmp_path)
    results = run / "results.jsonl"
    address = "memory://photos/a b.png"
    results.write_text(results.read_text().replace(str(tmp_path / "a b.png"), address))
    result = partdino("export", run, "--format", "upright", "--out", tmp_path / "out")
    assert result.code == 0, result.stderr
    assert (tmp_path / "out" / "a b.png").read_bytes() == content.getvalue()
