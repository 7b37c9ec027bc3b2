"""Photos of phones and cameras, and what is said of files that are not read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image, features
from segment_runs import SMALL, flags

from partdino.errors import InputError
from partdino.images import find_images, read_image
from partdino.images import formats as formats_module
from partdino.images.find import search_images
from partdino.images.read import ImageError

RED, BLUE = (200, 40, 40), (40, 60, 200)


def picture() -> np.ndarray:
    """Red on the left, blue on the right; (64, 96, 3)."""
    pixels = np.empty((64, 96, 3), np.uint8)
    pixels[:, :48], pixels[:, 48:] = RED, BLUE
    return pixels


def write_dng(path: Path, pixels: np.ndarray, orientation: int = 1) -> None:
    """Write what a camera would: one sample a pixel behind a mosaic of colour filters (RGGB)."""
    mosaic = pixels[..., 1].astype(np.uint16) * 257
    mosaic[0::2, 0::2] = pixels[0::2, 0::2, 0].astype(np.uint16) * 257
    mosaic[1::2, 1::2] = pixels[1::2, 1::2, 2].astype(np.uint16) * 257
    matrix = [v for value in np.eye(3).ravel() for v in (int(value * 10_000), 10_000)]
    tags = [
        (274, "H", 1, orientation, True),
        (33421, "H", 2, (2, 2), True),
        (33422, "B", 4, bytes([0, 1, 1, 2]), True),
        (50706, "B", 4, bytes([1, 4, 0, 0]), True),
        (50708, "s", 0, "Part-DINO", True),
        (50717, "H", 1, 65535, True),
        (50721, "2i", 9, matrix, True),
        (50728, "2I", 3, [1, 1] * 3, True),
        (50778, "H", 1, 21, True),
    ]
    tifffile.imwrite(path, mosaic, photometric=32803, extratags=tags, metadata=None)


def sides(pixels: np.ndarray) -> tuple[bool, bool]:
    """Whether the first and the last corner are more red than blue."""
    corners = pixels[4, 4].astype(int), pixels[-5, -5].astype(int)
    return tuple(bool(corner[0] > corner[2]) for corner in corners)


@pytest.mark.parametrize("suffix", ["heic", "HEIF", "avif"])
def test_photos_of_phones_are_read(tmp_path, suffix):
    if suffix == "avif":
        assert features.check("avif"), "Pillow 11.3 reads it"
    else:
        pytest.importorskip("pillow_heif", reason="pip install 'partdino[formats]'")
    assert f".{suffix.lower()}" in formats_module.image_suffixes()
    file = tmp_path / f"photo.{suffix}"
    Image.fromarray(picture()).save(file, quality=95)
    assert [image.name for image in find_images([tmp_path])] == [file.name]
    loaded = read_image(file)
    assert loaded.size == (64, 96)
    assert np.abs(loaded.pixels[8, 8].astype(int) - RED).max() < 25
    assert np.abs(loaded.pixels[8, 88].astype(int) - BLUE).max() < 25
    assert read_image(file, max_pixels=32 * 48).pixels.shape == (32, 48, 3)


def test_raw_files_of_cameras_are_developed_and_turned(tmp_path):
    pytest.importorskip("rawpy", reason="pip install 'partdino[formats]'")
    file = tmp_path / "photo.DNG"
    write_dng(file, picture())
    assert [image.name for image in find_images([tmp_path])] == ["photo.DNG"]
    loaded = read_image(file)
    assert loaded.size == loaded.pixels.shape[:2] == (64, 96) and sides(loaded.pixels) == (1, 0)
    small = read_image(file, max_pixels=16 * 24)
    assert small.size == (64, 96) and small.pixels.shape == (16, 24, 3)
    assert sides(small.pixels) == (1, 0)
    write_dng(file, picture(), orientation=6)
    turned = read_image(file)
    assert turned.size == turned.pixels.shape[:2] == (96, 64) and sides(turned.pixels) == (1, 0)
    assert sides(turned.pixels[:, ::-1]) == (1, 0), "red is above, blue below"
    stored = read_image(file, upright=False)
    assert stored.size == stored.pixels.shape[:2] == (64, 96) and sides(stored.pixels) == (1, 0)
    file.write_bytes(file.read_bytes()[:3000])
    with pytest.raises(ImageError, match=r"photo\.DNG: truncated, damaged"):
        read_image(file)


@pytest.fixture
def bare(monkeypatch):
    """An installation without the extra packages, and with an older Pillow."""
    for name in ("_reads_avif", "_reads_heif", "_reads_raw"):
        monkeypatch.setattr(formats_module, name, lambda: False)
    formats_module.image_suffixes.cache_clear()
    yield
    formats_module.image_suffixes.cache_clear()


def phone(folder: Path) -> Path:
    folder.mkdir()
    names = ("1.HEIC", "2.heic", "3.avif", "4.CR2", "5.nef", "6.dng", "clip.mov", "notes.txt", "x")
    for name in (*names, ".hidden.heic"):
        (folder / name).write_bytes(b"?")
    Image.fromarray(picture()).save(folder / "0.jpg")
    return folder


def test_what_is_not_read_is_counted_by_kind(bare, tmp_path):
    images, unread = search_images([phone(tmp_path / "phone")])
    assert [image.name for image in images] == ["0.jpg"]
    assert unread == {
        **{".heic": 2, ".avif": 1, ".cr2": 1, ".nef": 1, ".dng": 1, ".mov": 1, ".txt": 1, "": 1}
    }
    sentence = formats_module.unread_sentence(unread)
    assert sentence.startswith("8 files were passed over") and ".txt" not in sentence
    assert "2 .heic (pip install 'partdino[formats]')" in sentence and "1 .mov, 1 .nef" in sentence
    assert sentence.endswith("1 without suffix")
    assert formats_module.unread_sentence({".txt": 3}) is None
    os.remove(tmp_path / "phone" / "0.jpg")
    with pytest.raises(InputError, match=r"no images in .*2 \.heic \(pip install") as caught:
        find_images([tmp_path / "phone"])
    assert "\n" not in str(caught.value)
    with pytest.raises(ImageError, match=r"1\.HEIC: this kind .* not read; pip install 'partdino"):
        read_image(tmp_path / "phone" / "1.HEIC")


def test_a_run_says_what_it_passed_over(bare, partdino, photo_folder, tmp_path):
    photos = phone(tmp_path / "phone")
    (photos / "0.jpg").write_bytes((photo_folder / "animal_0000.jpg").read_bytes())
    (photos / "00.jpg").write_bytes((photo_folder / "animal_0001.jpg").read_bytes())
    done = partdino("segment", photos, "--out", tmp_path / "out", *flags(SMALL))
    assert done.code == 0, done.stderr
    assert "warning: 8 files were passed over" in done.stderr
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["not_read"][".heic"] == 2 and run["not_read"][".txt"] == 1
