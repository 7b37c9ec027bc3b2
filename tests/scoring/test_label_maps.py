"""Label maps made by any tool: where they are found, how they are read and resized."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

from partdino.errors import InputError
from partdino.evaluation import LabelFolder, read_label_map, resize_nearest
from partdino.evaluation.datasets import MaskSample

LABELS = np.array([[0, 1, 2], [3, 4, 255]])


def sample(root: Path, name: str = "test/car.jpg") -> MaskSample:
    return MaskSample(name, root / "images" / name, (2, 3), lambda: LABELS)


def save(path: Path, labels: np.ndarray = LABELS) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".npy":
        np.save(path, labels)
    else:
        Image.fromarray(labels.astype(np.uint8)).save(path)
    return path


@pytest.mark.parametrize("folder", ["", "test/", "images/test/"])
@pytest.mark.parametrize("file", ["car.png", "car.jpg.png", "car.npy", "car.jpg.npy"])
def test_the_image_tree_is_mirrored_in_full_or_in_part(tmp_path, folder, file):
    save(tmp_path / "labels" / (folder + file))
    photo = sample(tmp_path)
    labels, without_background = LabelFolder(tmp_path / "labels", [photo])(photo)
    np.testing.assert_array_equal(labels, LABELS)
    assert without_background is None


def test_a_label_map_beyond_pillows_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1)
    np.testing.assert_array_equal(read_label_map(save(tmp_path / "car.png")), LABELS)


def test_the_nearest_folder_wins(tmp_path):
    save(tmp_path / "labels/car.png", LABELS * 0)
    save(tmp_path / "labels/test/car.png")
    photo = sample(tmp_path)
    assert LabelFolder(tmp_path / "labels", [photo])(photo)[0].any()


def test_missing_label_maps_are_counted_and_named(tmp_path):
    save(tmp_path / "labels/test/car.png")
    photos = [sample(tmp_path, name) for name in ("test/car.jpg", "test/van.jpg", "test/bus.jpg")]
    with pytest.raises(InputError) as caught:
        LabelFolder(tmp_path / "labels", photos)
    message = str(caught.value)
    assert "2 of 3 images" in message and "test/van.jpg" in message and "test/van.png" in message


def test_two_images_never_share_a_label_map(tmp_path):
    save(tmp_path / "labels/car.png")
    photos = [sample(tmp_path, name) for name in ("test/car.jpg", "train/car.jpg")]
    with pytest.raises(InputError, match=r"label map of both .*test/car\.jpg and .*train/car\.jpg"):
        LabelFolder(tmp_path / "labels", photos)


@pytest.mark.parametrize("mode", ["P", "L", "I;16"])
def test_one_channel_images_are_read_as_they_are(tmp_path, mode):
    image = Image.fromarray(LABELS.astype(np.uint16 if mode == "I;16" else np.uint8))
    if mode == "P":
        image.putpalette(list(range(256))[::-1] * 3)
    assert image.mode == mode
    image.save(tmp_path / "a.png")
    np.testing.assert_array_equal(read_label_map(tmp_path / "a.png"), LABELS)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.uint16])
def test_npy(tmp_path, dtype):
    np.save(tmp_path / "a.npy", LABELS.astype(dtype))
    np.testing.assert_array_equal(read_label_map(tmp_path / "a.npy"), LABELS.astype(dtype))


@pytest.mark.parametrize(
    ("array", "says"),
    [
        (LABELS.astype(float), "float64"),
        (LABELS - 1, "labels -1 to 254"),
        (LABELS + 1, "labels 1 to 256"),
        (LABELS[None], "(1, 2, 3)"),
        (LABELS[:0], "(0, 3)"),
        (np.array([{}]), "not a readable label map"),
    ],
)
def test_arrays_that_are_no_label_map_are_refused(tmp_path, array, says):
    np.save(tmp_path / "a.npy", array, allow_pickle=True)
    with pytest.raises(InputError) as caught:
        read_label_map(tmp_path / "a.npy")
    assert says in str(caught.value) and str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("name", ["a.png", "a.npy"])
@pytest.mark.parametrize("content", [b"", b"text"])
def test_broken_files_are_refused(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match="not a readable label map"):
        read_label_map(tmp_path / name)


def test_colour_images_are_refused(tmp_path):
    Image.new("RGB", (3, 2)).save(tmp_path / "a.png")
    with pytest.raises(InputError, match="RGB instead of one channel"):
        read_label_map(tmp_path / "a.png")


@pytest.mark.parametrize("new", [1, 7, 128, 224, 448])
def test_resize_equals_opencv(new):
    for old in [*range(1, 60), 128, 178, 218, 333, 375, 500, 640, 861, 1024]:
        line = np.arange(old, dtype=np.float32)[None]
        expected = cv2.resize(line, (new, 3), interpolation=cv2.INTER_NEAREST)
        np.testing.assert_array_equal(resize_nearest(line, (3, new)), expected)
        np.testing.assert_array_equal(resize_nearest(line.T, (new, 3)), expected.T)


def test_black_and_white_images_are_one_part(tmp_path):
    Image.fromarray(LABELS > 1).save(tmp_path / "a.png")
    np.testing.assert_array_equal(read_label_map(tmp_path / "a.png"), LABELS > 1)
