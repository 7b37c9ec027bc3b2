from __future__ import annotations

from pathlib import Path

import cv2
import matplotlib.image
import numpy as np
import pytest
import skimage.io
from PIL import Image

from partdino.runs.writers import LabelWriter, OverlayWriter
from partdino.runs.writers.drawing import draw_parts, highlight_part, sample_nearest
from partdino.runs.writers.palette import part_colours

NAME = "sub dir/Vögel ☃/bird 1.jpg"


@pytest.mark.parametrize("num_parts", [1, 6, 15, 16, 255])
@pytest.mark.parametrize("size", [(1, 1), (33, 50), (128, 255)])
def test_label_png_reads_back_as_the_label_map(
    make_result, make_photo, tmp_path: Path, num_parts: int, size: tuple[int, int]
) -> None:
    result = make_result(NAME, size, num_parts)
    LabelWriter(tmp_path).add(result, result.name)
    path = tmp_path / "labels" / f"{NAME}.png"
    read = [
        np.asarray(Image.open(path)),
        skimage.io.imread(path),
        cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_UNCHANGED),
        cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_GRAYSCALE),
        np.rint(matplotlib.image.imread(path) * 255),
    ]
    for labels in read:
        np.testing.assert_array_equal(labels, result.label_map)


def test_label_png_has_eight_bits_whatever_the_number_of_parts(
    make_result, make_photo, tmp_path: Path
) -> None:
    LabelWriter(tmp_path).add(make_result(num_parts=2), "bird.jpg")
    header = (tmp_path / "labels" / "bird.jpg.png").read_bytes()[:26]
    assert tuple(header[24:26]) == (8, 0)  # bit depth, grey


@pytest.mark.parametrize(
    ("photo_size", "label_size", "overlay_size"),
    [
        ((48, 64), (48, 64), (48, 64)),
        ((24, 32), (96, 128), (24, 32)),  # a reduced decode
        ((2000, 100), (2000, 100), (1600, 80)),
        ((1, 3000), (1, 3000), (1, 1600)),
    ],
)
def test_overlay_has_the_photos_size_up_to_the_cap(
    make_result, make_photo, tmp_path: Path, photo_size, label_size, overlay_size
) -> None:
    OverlayWriter(tmp_path).add(make_result(NAME, label_size), make_photo(photo_size), NAME)
    with Image.open(tmp_path / "overlays" / f"{NAME}.jpg") as image:
        assert image.format == "JPEG"
        assert image.size == overlay_size[::-1]


def test_sampling_takes_the_label_at_each_pixels_centre() -> None:
    labels = np.arange(36, dtype=np.uint8).reshape(6, 6)
    assert np.array_equal(sample_nearest(labels, (2, 3)), labels[[1, 4]][:, [1, 3, 5]])
    assert np.array_equal(sample_nearest(labels, (12, 12)), labels.repeat(2, 0).repeat(2, 1))


def test_parts_are_tinted_and_the_background_is_dimmed() -> None:
    photo = np.full((40, 40, 3), 128, np.uint8)
    labels = np.zeros((40, 40), np.uint8)
    labels[:, 20:] = 3
    drawn = draw_parts(photo, labels)
    assert (drawn[:, :19] < photo[:, :19]).all()
    expected = (photo[0, 0] + part_colours()[3].astype(int)) / 2
    assert np.abs(drawn[:, 21:] - expected).max() <= 1
    assert (drawn[:, 19] > 200).all()  # the boundary


@pytest.mark.parametrize(("side", "thickness"), [(100, 1), (1000, 2)])
def test_boundaries_are_one_or_two_pixels_wide(side: int, thickness: int) -> None:
    labels = np.zeros((8, side), np.uint8)
    labels[:, side // 2 :] = 1
    drawn = draw_parts(np.zeros((8, side, 3), np.uint8), labels)
    assert np.count_nonzero((drawn > 200).all(axis=-1), axis=1).tolist() == [thickness] * 8


def test_a_highlighted_part_keeps_its_pixels_inside_its_outline(make_photo) -> None:
    photo = make_photo((30, 30))
    mask = np.zeros((30, 30), bool)
    mask[10:20, 10:20] = True
    drawn = highlight_part(photo, mask, part_colours()[2])
    assert np.array_equal(drawn[11:19, 11:19], photo[11:19, 11:19])
    assert (drawn[10, 10:20] == part_colours()[2]).all()
    assert drawn[:8].mean() < 0.7 * photo[:8].mean()
