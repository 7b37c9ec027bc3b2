"""Masks in every form people have them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from partdino.images.masks import read_mask
from partdino.images.read import ImageError

OBJECT = np.zeros((6, 8), bool)
OBJECT[2:5, 3:7] = True


def _rgba(background: tuple[int, int, int, int], colour: tuple[int, int, int, int]) -> Image.Image:
    return Image.fromarray(np.where(OBJECT[..., None], colour, background).astype(np.uint8))


@pytest.mark.parametrize(
    "mask",
    [
        Image.fromarray(OBJECT),
        Image.fromarray(OBJECT.astype(np.uint8)),
        Image.fromarray(OBJECT.astype(np.uint16)),
        Image.fromarray(OBJECT.astype(np.uint16) * 40_000),
        Image.fromarray(np.repeat(OBJECT[..., None] * np.uint8(255), 3, axis=2)),
        _rgba((0, 0, 0, 255), (9, 0, 0, 255)),
        _rgba((255, 255, 255, 0), (0, 0, 0, 255)),
    ],
    ids=["1 bit", "8 bit", "16 bit, label 1", "16 bit", "colour", "opaque", "transparent"],
)
def test_object_is_where_the_mask_is_not_zero_or_is_opaque(tmp_path: Path, mask: Image.Image):
    mask.save(tmp_path / "a.png")
    assert np.array_equal(read_mask(tmp_path, "a.jpg", OBJECT.shape, OBJECT.shape), OBJECT)
    twice = read_mask(tmp_path, "a.jpg", (12, 16), (12, 16))
    assert np.array_equal(twice, OBJECT.repeat(2, axis=0).repeat(2, axis=1))


def test_a_palette_mask_counts_by_index_not_by_colour(tmp_path: Path):
    mask = Image.fromarray(OBJECT.astype(np.uint8), "P")
    mask.putpalette([255, 255, 255, 0, 0, 0])
    mask.save(tmp_path / "a.png")
    assert np.array_equal(read_mask(tmp_path, "a.jpg", OBJECT.shape, OBJECT.shape), OBJECT)


def test_a_photo_is_no_mask_but_a_cut_out_is(tmp_path: Path):
    photo = np.random.default_rng(0).integers(1, 256, (40, 40, 4), dtype=np.uint8)
    Image.fromarray(photo[..., :3]).save(tmp_path / "a.png")
    with pytest.raises(ImageError, match="a photo, not a mask"):
        read_mask(tmp_path, "a.jpg", (40, 40), (40, 40))
    photo[:20, :, 3] = 0
    Image.fromarray(photo).save(tmp_path / "a.png")
    assert read_mask(tmp_path, "a.jpg", (40, 40), (40, 40)).sum() == 20 * 40


def test_a_mask_beyond_pillows_limit(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10)
    Image.fromarray(OBJECT).save(tmp_path / "bird.png")
    np.testing.assert_array_equal(
        read_mask(tmp_path, "bird.jpg", OBJECT.shape, OBJECT.shape), OBJECT
    )


@pytest.mark.parametrize("photo", [(6, 8), (60, 80), (601, 803), (3, 4)])
def test_a_mask_may_be_scaled(tmp_path: Path, photo: tuple[int, int]):
    Image.fromarray(OBJECT).save(tmp_path / "a.png")
    assert np.array_equal(read_mask(tmp_path, "a.jpg", OBJECT.shape, photo), OBJECT)


@pytest.mark.parametrize("photo", [(8, 6), (600, 1200), (800, 800)])
def test_a_mask_of_another_aspect_is_none_of_the_photo(tmp_path: Path, photo: tuple[int, int]):
    Image.fromarray(OBJECT.repeat(20, axis=0).repeat(20, axis=1)).save(tmp_path / "a.png")
    said = f"a mask of 160 x 120 pixels for a photo of {photo[1]} x {photo[0]}"
    with pytest.raises(ImageError, match=said):
        read_mask(tmp_path, "a.jpg", OBJECT.shape, photo)


def test_no_mask_and_a_damaged_mask_are_failures_of_the_image(tmp_path: Path):
    with pytest.raises(ImageError, match="no mask"):
        read_mask(tmp_path, "a.jpg", (6, 8), (6, 8))
    (tmp_path / "a.png").write_bytes(b"no image")
    with pytest.raises(ImageError, match="not a readable mask"):
        read_mask(tmp_path, "a.jpg", (6, 8), (6, 8))
