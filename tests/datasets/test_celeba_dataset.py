"""CelebA: both versions, the MAFL splits, the box filter, and bad files."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from partdino.errors import ConfigError, DatasetError
from partdino.evaluation.datasets import Celeba

FILES = [f"{number:06d}.jpg" for number in range(1, 7)]


@pytest.fixture
def root(tmp_path):
    """Six faces: 1 and 2 to fit parts, 3 and 4 in MAFL's training, 5 in its testing, 6 in none."""
    for folder, size in (("img_align_celeba", (178, 218)), ("img_celeba", (300, 200))):
        (tmp_path / folder).mkdir()
        for file in FILES:
            Image.new("RGB", size).save(tmp_path / folder / file)
    for name, shift in (("list_landmarks_align_celeba", 0), ("list_landmarks_celeba", 100)):
        rows = [f"{file}  {' '.join(str(shift + i) for i in range(10))}" for file in FILES]
        write(tmp_path, f"{name}.txt", ["6", "lefteye_x lefteye_y ..", *rows])
    boxes = [f"{file} 1 1 {30 * index} 200" for index, file in enumerate(FILES, start=1)]
    write(tmp_path, "list_bbox_celeba.txt", ["6", "image_id x_1 y_1 width height", *boxes])
    write(tmp_path, "MAFL_training.txt", FILES[2:4])
    write(tmp_path, "MAFL_testing.txt", FILES[4:5])
    # As in the real lists, MAFL's test image is in the training partition.
    partition = [f"{file} {int(file == FILES[5])}" for file in FILES]
    write(tmp_path, "list_eval_partition.txt", partition)
    return tmp_path


def write(root, name, lines):
    (root / name).write_text("\n".join(lines) + "\n")


def names(dataset):
    splits = ("fit", "regression", "score")
    return [[sample.name for sample in dataset.samples(split)] for split in splits]


def test_splits_and_samples(root):
    dataset = Celeba(root)
    assert names(dataset) == [FILES[:2], FILES[2:4], FILES[4:5]]
    (sample,) = dataset.samples("score")
    assert sample.path == root / "img_align_celeba" / FILES[4]
    assert sample.size == (218, 178)
    np.testing.assert_array_equal(sample.keypoints, np.arange(10).reshape(5, 2))
    assert sample.visible.all() and sample.box is None


def test_in_the_wild(root):
    (sample,) = Celeba(root, aligned=False).samples("score")
    assert sample.path == root / "img_celeba" / FILES[4]
    assert sample.keypoints[0, 0] == 100


def test_in_the_wild_is_taken_where_the_aligned_images_are_absent(root):
    for file in FILES:
        (root / "img_align_celeba" / file).unlink()
    (root / "img_align_celeba").rmdir()
    assert Celeba(root).identity.name == "CelebA in the wild"


def test_official_subfolders(root):
    for folder, moved in (
        ("Anno", "list_landmarks_align_celeba.txt"),
        ("Eval", "list_eval_partition.txt"),
        ("Img", "img_align_celeba"),
    ):
        (root / folder).mkdir()
        (root / moved).rename(root / folder / moved)
    assert names(Celeba(root))[2] == FILES[4:5]


def test_only_large_faces(root):
    dataset = Celeba(root, aligned=False, min_box_fraction=0.3)
    assert names(dataset) == [[], FILES[2:4], FILES[4:5]]
    assert "0 fit, 2 regression, 1 score" in dataset.identity.warnings[-1]
    with pytest.raises(ConfigError, match="aligned faces have no boxes"):
        Celeba(root, aligned=True, min_box_fraction=0.3)


def test_without_other_training_images_mafl_fits_the_parts(root):
    write(root, "list_eval_partition.txt", [f"{file} 0" for file in FILES[2:5]])
    dataset = Celeba(root)
    assert names(dataset)[0] == FILES[2:4]
    assert "parts are fitted on MAFL" in dataset.identity.warnings[-1]


def test_an_incomplete_copy_says_so(root):
    (root / "img_align_celeba" / FILES[0]).unlink()
    identity = Celeba(root).identity
    assert not identity.complete and identity.missing == 1
    assert "2 of 19,000 regression" in identity.warnings[0]


@pytest.mark.parametrize(
    ("name", "lines", "says"),
    [
        ("MAFL_testing.txt", None, "no MAFL_testing.txt"),
        ("list_landmarks_align_celeba.txt", ["6", "h", "000001.jpg 1 2 3"], "line 3 is not"),
        ("list_landmarks_align_celeba.txt", ["6", "h", "a.jpg " + "1 " * 10], "says 6 rows"),
    ],
)
def test_one_clear_line_for_a_bad_file(root, name, lines, says):
    (root / name).unlink()
    if lines is not None:
        write(root, name, lines)
    with pytest.raises(DatasetError) as caught:
        Celeba(root)
    message = str(caught.value)
    assert says in message and str(root) in message and "CelebA.html" in message
    assert "\n" not in message
