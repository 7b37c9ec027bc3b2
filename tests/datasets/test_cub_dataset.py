"""CUB-200-2011: reading, incomplete copies, and one clear line for everything that is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from partdino.errors import DatasetError
from partdino.evaluation.datasets import Cub

IMAGES = {5: "001.A/a_1.jpg", 7: "001.A/a_2.jpg", 31: "002.B/b_1.jpg"}


@pytest.fixture
def root(tmp_path):
    """Three images, ids with gaps, the first two for training; the keypoint 2 of each is hidden."""
    for name in IMAGES.values():
        path = tmp_path / "images" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("L", (60, 40)).save(path)
    (tmp_path / "parts").mkdir()
    ids = list(IMAGES)
    write(tmp_path, "images.txt", [f"{key} {name}" for key, name in IMAGES.items()])
    write(tmp_path, "train_test_split.txt", [f"{key} {int(key < 10)}" for key in ids])
    write(tmp_path, "bounding_boxes.txt", [f"{key} -2.0 3.0 50.0 30.5" for key in ids])
    write(tmp_path, "parts/parts.txt", ["1 back", "2 left eye"])
    lines = [f"{key} {part} {key}.5 {part}.0 {int(part == 1)}" for key in ids for part in (1, 2)]
    write(tmp_path, "parts/part_locs.txt", lines)
    return tmp_path


def write(root, name, lines):
    (root / name).write_text("\n".join(lines) + "\n")


def test_samples(root):
    dataset = Cub(root)
    assert dataset.part_names == ("back", "left eye")
    assert [s.name for s in dataset.samples("fit")] == ["001.A/a_1.jpg", "001.A/a_2.jpg"]
    assert dataset.samples("regression") == dataset.samples("fit")
    (sample,) = dataset.samples("score")
    assert sample.name == "002.B/b_1.jpg"
    assert sample.path == root / "images/002.B/b_1.jpg"
    assert sample.size == (40, 60)
    np.testing.assert_array_equal(sample.keypoints, [[31.5, 1.0], [31.5, 2.0]])
    np.testing.assert_array_equal(sample.visible, [True, False])
    np.testing.assert_array_equal(sample.box, [-2, 3, 50, 30.5])


def test_an_incomplete_copy_says_so(root):
    identity = Cub(root).identity
    assert not identity.complete
    assert identity.counts == {"fit": 2, "score": 1}
    (warning,) = identity.warnings
    assert "2 of 5,994" in warning and "1 of 5,794" in warning and "not comparable" in warning


def test_images_without_a_file_are_left_out_and_counted(root):
    (root / "images/001.A/a_1.jpg").unlink()
    dataset = Cub(root)
    assert dataset.identity.missing == 1
    assert [s.name for s in dataset.samples("fit")] == ["001.A/a_2.jpg"]
    assert "1 image files absent" in dataset.identity.warnings[0]


def test_the_hash_follows_the_annotations(root):
    before = Cub(root).identity.sha256
    assert Cub(root).identity.sha256 == before
    write(root, "train_test_split.txt", ["5 1", "7 0", "31 0"])
    assert Cub(root).identity.sha256 != before


@pytest.mark.parametrize(
    ("name", "lines", "says"),
    [
        ("images.txt", None, "no images.txt"),
        ("parts/part_locs.txt", None, "no parts/part_locs.txt"),
        ("bounding_boxes.txt", ["5 1 2 3"], "line 1 is not 'int float float float float'"),
        ("train_test_split.txt", ["5 1", "7 yes"], "line 2 is not 'int int'"),
        ("train_test_split.txt", ["5 1", "7 0"], "nothing about image 31"),
        ("bounding_boxes.txt", ["5 1 2 3 0", "7 1 1 9 9", "31 1 1 9 9"], "3 x 0 pixels"),
    ],
)
def test_one_clear_line_for_a_bad_file(root, name, lines, says):
    (root / name).unlink()
    if lines is not None:
        write(root, name, lines)
    with pytest.raises(DatasetError) as caught:
        Cub(root)
    message = str(caught.value)
    assert says in message and str(root) in message and "CUB_200_2011.tgz" in message
    assert "\n" not in message


def test_a_folder_without_any_image_is_refused(root):
    for name in IMAGES.values():
        (root / "images" / name).unlink()
    with pytest.raises(DatasetError, match="none of the annotated images"):
        Cub(root)


def test_an_unreadable_image_is_named(root):
    (root / "images/002.B/b_1.jpg").write_text("no image")
    (sample,) = Cub(root).samples("score")
    with pytest.raises(DatasetError, match=r"b_1\.jpg"):
        _ = sample.size
