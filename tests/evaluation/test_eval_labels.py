"""`partdino eval --labels`: label maps of any tool, scored by the same code."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from partdino.evaluation.datasets import CocoParts, Cub

DATA = Path(os.environ.get("PARTDINO_BENCH_DATA", Path(__file__).parents[3] / "shared/data"))
PERFECT = pytest.approx(100)
PIXEL_SCORES = ("nmi", "ari", "miou", "band_nmi", "band_ari", "band_miou", "boundary_f")


def save(folder, sample, labels):
    path = (folder / sample.name).with_suffix(".png")
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(labels.astype(np.uint8)).save(path)


def nearest_keypoint(sample):
    """Label every pixel by the nearest visible keypoint, 1..P."""
    height, width = sample.size
    pixels = np.stack(np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5), axis=2)
    distance = np.linalg.norm(pixels[:, :, None] - sample.keypoints, axis=3)
    return np.where(sample.visible, distance, np.inf).argmin(axis=2) + 1


@pytest.mark.parametrize("options", [(), ("--eval-size", "full"), ("--eval-size", 64)])
@pytest.mark.parametrize("foreground", ["auto", "ground-truth"])
def test_true_masks_score_100_under_any_numbers(evaluate, coco_root, tmp_path, options, foreground):
    rng = np.random.default_rng(0)
    dataset = CocoParts(coco_root)
    numbers = np.array([0, *(rng.permutation(len(dataset.part_names)) + 1)])
    for sample in dataset.samples("score"):
        save(tmp_path, sample, numbers[sample.label_map()])
    arguments = ("coco-parts", coco_root, "--labels", tmp_path, "--foreground", foreground)
    document = evaluate(*arguments, *options)
    (row,) = document["scores"]
    assert row["method"] == "labels" and row["seed"] is None and row["parts"] == numbers.max()
    expected = dict.fromkeys(PIXEL_SCORES, 100.0)
    if foreground == "auto":
        expected |= {"object_recall": 100.0, "object_recall_worst": 100.0, "outside_hull": 0.0}
    assert row["scores"] == pytest.approx(expected)
    assert document["labels"] == str(tmp_path) and "weights" not in document


def test_true_keypoints_score_100(evaluate, cub_root, tmp_path):
    dataset = Cub(cub_root)
    for sample in [*dataset.samples("fit"), *dataset.samples("score")]:
        save(tmp_path, sample, nearest_keypoint(sample))
    (row,) = evaluate("cub", cub_root, "--labels", tmp_path, "--size", 1024)["scores"]
    assert row["scores"]["nmi"] == row["scores"]["ari"] == PERFECT
    assert "fg_nmi" not in row["scores"]
    assert np.isfinite(row["scores"]["keypoint_regression"])


def test_one_broken_label_map_stops_nothing(run_eval, evaluate, coco_root, tmp_path):
    samples = CocoParts(coco_root).samples("score")
    for sample in samples:
        save(tmp_path, sample, sample.label_map())
    broken = (tmp_path / samples[1].name).with_suffix(".png")
    broken.write_bytes(b"")
    arguments = ("coco-parts", coco_root, "--labels", tmp_path)
    document = evaluate(*arguments, code=1)
    assert [failure["name"] for failure in document["failures"]] == [samples[1].name]
    assert "1 images failed" in document["not_comparable_because"]
    assert document["dataset"]["used"]["score"] == len(samples) - 1
    assert document["scores"][0]["scores"]["nmi"] == PERFECT
    for sample in samples:
        (tmp_path / sample.name).with_suffix(".png").write_bytes(b"")
    finished = run_eval(*arguments)
    assert finished.code == 2 and "no image could be scored" in finished.stderr


def test_missing_label_maps_are_named(run_eval, coco_root, tmp_path):
    finished = run_eval("coco-parts", coco_root, "--labels", tmp_path)
    assert finished.code == 2
    assert "no label map for 6 of 6 images" in finished.stderr


@pytest.mark.bench
@pytest.mark.parametrize(
    ("command", "name", "size", "expected"),
    [
        ("cub", "CUB_200_2011", 448, (19.70053, 6.72210, 23.3047)),
        ("celeba", "celeba", 224, (47.55939, 31.14819, 7.8955)),
        ("coco-parts", "carparts", 128, (20.71410, 24.98883)),
        ("coco-parts", "faceparts", 128, (20.54864, 14.60674)),
    ],
)
def test_the_reference_labelling_through_the_command(
    partdino, tmp_path, command, name, size, expected
):
    root = DATA / name
    if not root.is_dir():
        pytest.skip(f"{root} is not there; set PARTDINO_BENCH_DATA")
    centre = (np.arange(size) + 0.5) / size
    x, y = np.meshgrid(centre, centre)
    inside = ((x - 0.5) / 0.45) ** 2 + ((y - 0.5) / 0.45) ** 2 <= 1
    bands = np.where(inside, np.minimum(np.floor(8 * y), 7) + 1, 0)
    Image.fromarray(bands.astype(np.uint8)).save(tmp_path / "bands.png")
    for photo in root.rglob("*.jpg"):
        path = tmp_path / "labels" / photo.relative_to(root).with_suffix(".png")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.hardlink_to(tmp_path / "bands.png")
    finished = partdino("eval", command, root, "--labels", tmp_path / "labels", "--json")
    assert finished.code == 0, finished.stderr
    (row,) = json.loads(finished.stdout)["scores"]
    assert row["parts"] == 8
    metrics = ("nmi", "ari", "keypoint_regression")[: len(expected)]
    assert [row["scores"][key] for key in metrics] == pytest.approx(expected, abs=1e-3, rel=0)


def test_options_of_a_method_are_said_to_be_unused(run_eval, coco_root, tmp_path):
    for sample in CocoParts(coco_root).samples("score"):
        save(tmp_path, sample, sample.label_map())
    arguments = ("coco-parts", coco_root, "--labels", tmp_path)
    said = run_eval(*arguments, "--seeds", 2).stderr
    assert "seeds not used" in said and "parts" not in said
    assert "seeds" not in run_eval(*arguments).stderr
