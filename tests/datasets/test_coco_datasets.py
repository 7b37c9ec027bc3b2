"""COCO-format data: drawing against pycocotools, the PartImageNet layouts, and bad files."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image
from pycocotools import mask as coco_mask
from pycocotools.coco import COCO

from partdino.errors import DatasetError
from partdino.evaluation.datasets import CocoParts, PartImageNetOOD, PartImageNetSeg
from partdino.evaluation.datasets.coco import draw_ground_truth

SIZE = (30, 40)
SQUARE = [[5, 5, 20, 5, 20, 20, 5, 20]]


def annotation(image_id=1, category_id=1, segmentation=SQUARE, **changes):
    defaults = {"area": 225, "bbox": [5, 5, 15, 15], "iscrowd": 0}
    ids = {"image_id": image_id, "category_id": category_id, "segmentation": segmentation}
    return ids | defaults | changes


def document(file_names, annotations):
    return {
        "images": [
            {"id": key, "file_name": name, "height": SIZE[0], "width": SIZE[1]}
            for key, name in file_names.items()
        ],
        "annotations": [entry | {"id": key} for key, entry in enumerate(annotations, start=1)],
        "categories": [{"id": 3, "name": "tail"}, {"id": 1, "name": "head"}],
    }


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


def photo(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", SIZE[::-1]).save(path, "JPEG")


@pytest.fixture
def root(tmp_path):
    for split in ("train", "test"):
        photo(tmp_path / f"images/{split}/{split}.jpg")
        content = document({1: f"{split}.jpg"}, [annotation()])
        write(tmp_path / f"annotations/{split}.json", content)
    return tmp_path


def test_samples(root):
    dataset = CocoParts(root)
    assert dataset.part_names == ("head", "tail")
    assert dataset.identity.counts == {"fit": 1, "score": 1}
    assert dataset.identity.complete and not dataset.identity.warnings
    assert dataset.samples("regression") == []
    (sample,) = dataset.samples("score")
    assert (sample.name, sample.path) == ("test/test.jpg", root / "images/test/test.jpg")
    assert sample.size == SIZE
    truth = sample.label_map()
    assert truth.shape == SIZE and truth.dtype == np.uint8
    assert truth[10, 10] == 1 and truth[25, 25] == 0


def test_one_split_serves_both(root):
    (root / "annotations/train.json").unlink()
    dataset = CocoParts(root)
    assert dataset.samples("fit") == dataset.samples("score")
    assert "fitted on the scored images" in dataset.identity.warnings[0]


def random_annotations(rng):
    """Overlapping polygons, many to an annotation, and both kinds of run lengths."""
    annotations = []
    for _ in range(12):
        polygons = [rng.uniform(0, 30, 2 * rng.integers(3, 8)).tolist() for _ in range(2)]
        mask = np.asfortranarray(rng.random(SIZE) < 0.2, np.uint8)
        packed = coco_mask.encode(mask)
        runs = np.flatnonzero(np.diff(np.r_[0, mask.ravel(order="F"), 1 - mask[-1, -1]]))
        plain = {"size": list(SIZE), "counts": np.diff(np.r_[0, runs]).tolist()}
        for segmentation in (polygons, packed | {"counts": packed["counts"].decode()}, plain):
            annotations.append(annotation(1, int(rng.choice([1, 3])), segmentation))
    return annotations


@pytest.mark.parametrize("seed", range(5))
def test_ground_truth_is_the_largest_sum_of_pycocotools_masks(seed):
    annotations = random_annotations(np.random.default_rng(seed))
    oracle = COCO()
    oracle.dataset = document({1: "a.jpg"}, annotations)
    oracle.createIndex()
    sums = np.zeros((2, *SIZE), int)
    for entry in annotations:
        sums[[1, 3].index(entry["category_id"])] += oracle.annToMask(entry)
    expected = np.where(sums.max(axis=0) > 0, sums.argmax(axis=0) + 1, 0)
    np.testing.assert_array_equal(draw_ground_truth(annotations, SIZE, {1: 1, 3: 2}), expected)


def test_a_polygon_of_four_numbers_is_the_box():
    corners = annotation(segmentation=[[5, 5, 20, 20]], bbox=[2, 3, 10, 4])
    truth = draw_ground_truth([corners], SIZE, {1: 1})
    np.testing.assert_array_equal(np.argwhere(truth)[[0, -1]], [[3, 2], [6, 11]])
    assert truth.sum() == 40


@pytest.mark.parametrize("segmentation", [[], [[]], [[1, 2]]])
def test_polygons_without_area_draw_nothing(segmentation):
    assert not draw_ground_truth([annotation(segmentation=segmentation)], SIZE, {1: 1}).any()


@pytest.mark.parametrize("changes", [{"area": 0}])
def test_skipped_annotations_leave_their_image_out(root, changes):
    content = document({1: "test.jpg", 2: "other.jpg"}, [annotation(1), annotation(2, **changes)])
    write(root / "annotations/test.json", content)
    photo(root / "images/test/other.jpg")
    dataset = CocoParts(root)
    assert [sample.name for sample in dataset.samples("score")] == ["test/test.jpg"]
    assert dataset.identity.missing == 0


@pytest.mark.parametrize("file_name", ["n01_5.JPEG", "n01/n01_5.JPEG", "train\\n01\\n01_5.JPEG"])
@pytest.mark.parametrize("place", ["images/test/n01/n01_5.JPEG", "images/test/n01_5.JPEG"])
def test_partimagenet_finds_images_flat_or_by_class(root, file_name, place):
    photo(root / place)
    write(root / "annotations/test.json", document({7: file_name}, [annotation(7)]))
    dataset = PartImageNetSeg(root)
    (sample,) = dataset.samples("score")
    assert sample.path == root / place
    assert "1 of 2,405 score images" in dataset.identity.warnings[0]


def test_partimagenet_ood_is_cut_by_the_list(tmp_path):
    files = {key: f"n0{key}_9.JPEG" for key in (1, 2, 3, 4)}
    for name in files.values():
        photo(tmp_path / "images/train" / name)
    # Image 3 has no annotation, image 4 no line in the list.
    entries = [annotation(key) for key in (1, 2, 4)]
    write(tmp_path / "annotations/train/train.json", document(files, entries))
    lines = [f"{key}\t{int(key > 1)}\t0\tn0{key}\t{files[key]}" for key in (1, 2, 3)]
    write(tmp_path / "list.txt", "\n".join(lines))
    dataset = PartImageNetOOD(tmp_path, tmp_path / "list.txt")
    assert [sample.name for sample in dataset.samples("fit")] == ["train/n01_9.JPEG"]
    assert [sample.name for sample in dataset.samples("score")] == ["train/n02_9.JPEG"]
    assert "1 of 1,658 score images" in dataset.identity.warnings[0]


@pytest.mark.parametrize("lines", ["", "1 0 16 n01 n01_9.JPEG\n2 0 n01_9.JPEG"])
def test_a_bad_list_is_refused(root, lines):
    write(root / "list.txt", lines)
    with pytest.raises(DatasetError, match=r"list\.txt.*image_id is_test label_id"):
        PartImageNetOOD(root, root / "list.txt")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "no annotations/train.json or annotations/test.json"),
        ('{"images": [', "cannot be read as json"),
        ("[]", "not COCO annotations"),
        ({"images": [], "annotations": [{"area": 1}], "categories": []}, "not COCO annotations"),
        (document({1: "test.jpg"}, [annotation(category_id=2)]), "category 2 is not among"),
        (document({1: "gone.jpg"}, [annotation()]), "none of the annotated images"),
    ],
)
def test_one_clear_line_for_a_bad_file(root, content, says):
    (root / "annotations/train.json").unlink()
    (root / "annotations/test.json").unlink()
    if content is not None:
        write(root / "annotations/test.json", content)
    with pytest.raises(DatasetError) as caught:
        CocoParts(root)
    message = str(caught.value)
    assert says in message and str(root) in message and "\n" not in message


@pytest.mark.parametrize(
    "segmentation",
    ["abc", [["a", "b", "c", "d", "e", "f"]], {"size": [3, 3], "counts": [4, 5]}, {"size": [3, 3]}],
)
def test_a_segmentation_that_cannot_be_drawn_names_its_image(root, segmentation):
    content = document({1: "test.jpg"}, [annotation(segmentation=segmentation)])
    write(root / "annotations/test.json", content)
    (sample,) = CocoParts(root).samples("score")
    with pytest.raises(DatasetError, match=r"test/test\.jpg"):
        sample.label_map()
