"""The layouts on disk are what the benchmarks' readers expect."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from pycocotools.coco import COCO

from partdino.evaluation.synth import render_animal, write_layout
from partdino.evaluation.synth.celeba import similarity, warp_to_aligned
from partdino.evaluation.synth.output import draw_frame, image_rng


def rows(path: Path, skip: int = 0) -> list[list[str]]:
    return [line.split() for line in path.read_text().splitlines()[skip:]]


def test_photos_have_label_maps_of_their_size(photo_folder: Path) -> None:
    photos = sorted(photo_folder.iterdir())
    sizes = set()
    for photo in photos:
        with Image.open(photo) as image:
            sizes.add(image.size)
            assert image.mode == "RGB" and max(image.size) == 160
        with Image.open(photo_folder.parent / "labels" / f"{photo.stem}.png") as labels:
            assert labels.mode == "L" and labels.size == image.size
            assert set(np.unique(labels)) <= set(range(6))
    assert len(photos) == 8 and len(sizes) > 1
    names = list(csv.reader((photo_folder.parent / "parts.csv").open()))
    assert names[0] == ["label", "part"] and names[1] == ["1", "head"] and len(names) == 6


def test_cub_lists_agree(cub_root: Path) -> None:
    images = {int(key): cub_root / "images" / file for key, file in rows(cub_root / "images.txt")}
    ids = list(images)
    assert len(ids) == 16 and np.diff(ids).max() > 1
    with_ids = ("train_test_split.txt", "image_class_labels.txt", "bounding_boxes.txt")
    split, classes, boxes = (rows(cub_root / name) for name in with_ids)
    assert all([int(row[0]) for row in table] == ids for table in (split, classes, boxes))
    names = dict(rows(cub_root / "classes.txt"))
    for (_, label), path in zip(classes, images.values(), strict=True):
        assert path.parent.name == names[label] == f"{int(label):03d}.{names[label][4:]}"
    pairs = {(label, is_train) for (_, label), (_, is_train) in zip(classes, split, strict=True)}
    assert pairs == {(label, flag) for label in names for flag in "01"}
    modes = [Image.open(path).mode for path in images.values()]
    assert sorted(modes) == ["L"] + ["RGB"] * 15


def test_cub_keypoints_are_in_their_box(cub_root: Path) -> None:
    names = [" ".join(row[1:]) for row in rows(cub_root / "parts" / "parts.txt")]
    assert names[0] == "back" and names[6] == "left eye" and names[14] == "throat"
    table = np.array(rows(cub_root / "parts" / "part_locs.txt"), float).reshape(16, 15, 5)
    boxes = np.array(rows(cub_root / "bounding_boxes.txt"), float)
    assert np.all(table[..., 1] == np.arange(1, 16)) and np.all(table[:, 0, 0] == boxes[:, 0])
    for points, (_, x, y, width, height) in zip(table[..., 2:], boxes, strict=True):
        seen = points[:, 2] == 1
        assert 8 <= seen.sum() < 15  # one eye and one wing are always turned away
        assert np.all(points[~seen] == 0)
        assert np.all((points[seen, :2] > (x, y)) & (points[seen, :2] < (x + width, y + height)))


def test_celeba_lists_agree(celeba_root: Path) -> None:
    files = sorted(path.name for path in (celeba_root / "img_celeba").iterdir())
    for name in ("landmarks_celeba", "landmarks_align_celeba", "bbox_celeba"):
        table = rows(celeba_root / f"list_{name}.txt")
        assert table[0] == ["16"] and [row[0] for row in table[2:]] == files
        assert all(len(row) == (5 if "bbox" in name else 11) for row in table[2:])
    partition = dict(rows(celeba_root / "list_eval_partition.txt"))
    fit, score = (
        {row[0] for row in rows(celeba_root / f"MAFL_{name}.txt")}
        for name in ("training", "testing")
    )
    assert list(partition) == files and set(partition.values()) == set("012")
    assert len(fit) == len(score) == 4 and not fit & score
    assert any(partition[file] == "0" for file in files if file not in fit | score)


def test_some_faces_fill_three_tenths_of_the_image_and_some_do_not(celeba_root: Path) -> None:
    shares = []
    for file, *box in rows(celeba_root / "list_bbox_celeba.txt", skip=2):
        x, y, width, height = (int(value) for value in box)
        frame = Image.open(celeba_root / "img_celeba" / file).size
        assert x >= 0 and y >= 0 and x + width <= frame[0] and y + height <= frame[1]
        shares.append(width * height / (frame[0] * frame[1]))
    assert min(shares) < 0.3 < max(shares)


def test_aligned_landmarks_are_where_celeba_has_them(celeba_root: Path) -> None:
    table = rows(celeba_root / "list_landmarks_align_celeba.txt", skip=2)
    for file, *_ in table:
        assert Image.open(celeba_root / "img_align_celeba" / file).size == (178, 218)
    points = np.array([row[1:] for row in table], float)
    assert np.all(points[:, 0] < points[:, 2]) and np.all(points[:, 6] < points[:, 8])
    middle = (69, 111, 109, 111, 89, 136, 72, 152, 106, 152)
    assert np.abs(points.mean(axis=0) - middle).max() < 6


def test_aligned_pixels_move_with_the_landmarks() -> None:
    image = np.zeros((300, 400, 3), np.uint8)
    image[198:202, 148:152] = 255  # centred on (150, 200)
    matrix = np.array([[0.9, -0.3, 10.0], [0.3, 0.9, -120.0]])
    aligned = warp_to_aligned(image, matrix)[..., 0].astype(float)
    y, x = np.mgrid[0:218, 0:178] + 0.5
    centroid = np.array([(x * aligned).sum(), (y * aligned).sum()]) / aligned.sum()
    assert np.allclose(centroid, matrix @ (150, 200, 1), atol=0.1)


def test_similarity_recovers_turn_scale_and_shift() -> None:
    points = np.random.default_rng(0).normal(size=(5, 2))
    turn = 1.7 * np.array([[np.cos(0.4), -np.sin(0.4)], [np.sin(0.4), np.cos(0.4)]])
    matrix = similarity(points, points @ turn.T + (3, -2))
    assert np.allclose(matrix, np.column_stack([turn, (3, -2)]))


@pytest.mark.parametrize("split", ["train", "test"])
def test_coco_masks_decode_to_the_label_map(coco_root: Path, split: str) -> None:
    coco = COCO(str(coco_root / "annotations" / f"{split}.json"))
    names = {category["id"]: category["name"] for category in coco.dataset["categories"]}
    assert list(names) == list(range(11)) and names[0] == "Quadruped Head"
    assert len(coco.imgs) == 6
    for place, image in enumerate(coco.dataset["images"]):
        index = place + 6 * (split == "test")
        kind = ("quadruped", "bird")[index % 2]
        rng = image_rng(0, index)
        scene = render_animal(rng, *draw_frame(rng, 160), kind=kind, species=index % 4)
        decoded = np.zeros((image["height"], image["width"]), np.uint8)
        for annotation in coco.imgToAnns[image["id"]]:
            mask = coco.annToMask(annotation).astype(bool)
            part = names[annotation["category_id"]].split()[1].lower()
            assert not decoded[mask].any() and annotation["area"] == mask.sum()
            x, y, width, height = (int(value) for value in annotation["bbox"])
            assert mask[y : y + height, x : x + width].sum() == mask.sum()
            decoded[mask] = scene.part_names.index(part) + 1
        assert np.array_equal(decoded, scene.labels)
        with Image.open(coco_root / "images" / split / image["file_name"]) as picture:
            assert picture.format == "JPEG" and picture.size == decoded.shape[::-1]


def test_split_list_cuts_the_train_file(coco_root: Path) -> None:
    train = COCO(str(coco_root / "annotations" / "train.json")).imgs
    lines = (coco_root / "train_test_split.txt").read_text().splitlines()
    cut = [line.split("\t") for line in lines]
    assert {int(row[0]): row[4] for row in cut} == {k: v["file_name"] for k, v in train.items()}
    assert {row[1] for row in cut} == {"0", "1"}
    assert all(row[4].startswith(row[3]) for row in cut)


def test_the_same_seed_writes_the_same_bytes(tmp_path: Path) -> None:
    def contents(name: str, seed: int) -> dict[str, bytes]:
        root = tmp_path / name
        write_layout("cub", root, images=4, seed=seed, size=64)
        files = (path for path in root.rglob("*") if path.is_file())
        return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}

    first, again, other = contents("a", 1), contents("b", 1), contents("c", 2)
    assert first == again
    assert first["parts/part_locs.txt"] != other["parts/part_locs.txt"]
