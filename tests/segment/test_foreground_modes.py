"""`--foreground`: found, given by masks, or everything."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from segment_runs import failures, label_bytes, label_map, unfinish


@pytest.fixture
def squares(tmp_path) -> Path:
    """Noise photos of 128 pixels, the size of regions: what is marked can be met to the pixel."""
    rng = np.random.default_rng(0)
    for name in ("a.png", "deep/b.jpg"):
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 256, (128, 128, 3), dtype=np.uint8)).save(path)
    return tmp_path / "in"


def disc(x: int, y: int, radius: int) -> np.ndarray:
    rows, columns = np.mgrid[:128, :128]
    return (rows - y) ** 2 + (columns - x) ** 2 < radius**2


def save_mask(path: Path, mask: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(mask.astype(np.uint8)).save(path)  # 1 is enough to mark the object


def test_none_takes_everything(segment, photo_folder, tmp_path):
    assert segment(photo_folder, tmp_path, foreground="none").code == 0
    assert all(label_map(tmp_path, name).all() for name in label_bytes(tmp_path))


@pytest.mark.parametrize(
    "places", [("a.png", "deep/b.png"), ("a.png.png", "deep/b.jpg.png")], ids=["stem", "name"]
)
def test_masks_are_followed_to_the_pixel(segment, squares, tmp_path, places):
    masks = {"a.png": disc(60, 70, 41), "deep/b.jpg": disc(20, 0, 55) | disc(110, 100, 9)}
    for place, mask in zip(places, masks.values(), strict=True):
        save_mask(tmp_path / "masks" / place, mask)
    out = tmp_path / "out"
    result = segment(squares, out, foreground="masks", masks=tmp_path / "masks")
    assert result.code == 0, result.stderr
    for name, mask in masks.items():
        np.testing.assert_array_equal(label_map(out, name) > 0, mask)


def test_what_is_wrong_with_a_mask_fails_its_photo_alone(segment, squares, tmp_path):
    masks, out = tmp_path / "masks", tmp_path / "out"
    save_mask(masks / "a.png", disc(60, 70, 41))
    assert segment(squares, out, foreground="masks", masks=masks).code == 1
    reasons = failures(out)
    assert list(reasons) == ["deep/b.jpg"]
    assert reasons["deep/b.jpg"] == f"no mask; save it as {masks / 'deep' / 'b.png'}"
    (masks / "deep").mkdir()
    (masks / "deep" / "b.png").write_text("no image")
    assert segment(squares, out, "--overwrite", foreground="masks", masks=masks).code == 1
    assert "not a readable mask" in failures(out)["deep/b.jpg"]


def test_an_empty_mask_is_reported_not_dropped(segment, squares, tmp_path):
    save_mask(tmp_path / "masks" / "a.png", disc(60, 70, 41))
    save_mask(tmp_path / "masks" / "deep" / "b.png", np.zeros((128, 128)))
    out = tmp_path / "out"
    result = segment(squares, out, foreground="masks", masks=tmp_path / "masks")
    assert result.code == 0
    assert "no foreground in 1 images (run.json): deep/b.jpg" in result.stderr
    assert json.loads((out / "run.json").read_text())["without_foreground"] == ["deep/b.jpg"]
    assert not label_map(out, "deep/b.jpg").any()


def test_label_maps_serve_as_masks(segment, photo_folder, finished_run, tmp_path):
    """What one run found, corrected by hand if need be, can be split differently by the next."""
    out = tmp_path / "out"
    masks = finished_run / "labels"
    assert segment(photo_folder, out, foreground="masks", masks=masks, parts=2).code == 0
    pairs = [(label_map(out, name), label_map(masks.parent, name)) for name in label_bytes(out)]
    overlap = [((a > 0) & (b > 0)).sum() / ((a > 0) | (b > 0)).sum() for a, b in pairs]
    assert np.mean(overlap) > 0.85


@pytest.mark.parametrize(
    "options", [{"foreground": "masks"}, {"masks": "folder", "foreground": "auto"}]
)
def test_masks_and_their_folder_go_together(segment, photo_folder, tmp_path, options):
    result = segment(photo_folder, tmp_path / "out", **options)
    assert (result.code, result.stderr.count("\n")) == (2, 1)
    assert "--foreground masks and --masks DIR go together" in result.stderr


def test_resume_follows_other_masks(segment, squares, tmp_path):
    for name, radius in (("one", 41), ("two", 20)):
        save_mask(tmp_path / name / "a.png", disc(60, 70, radius))
    out, photo = tmp_path / "out", squares / "a.png"
    assert segment(photo, out, foreground="masks", masks=tmp_path / "one").code == 0
    unfinish(out)
    other = {"foreground": "masks", "masks": tmp_path / "two"}
    assert segment(photo, out, "--resume", **other).code == 0
    assert segment(photo, tmp_path / "fresh", **other).code == 0
    labels = [Image.open(each / "labels" / "a.png") for each in (out, tmp_path / "fresh")]
    np.testing.assert_array_equal(*map(np.asarray, labels))


def test_resume_without_masks_is_refused(segment, squares, tmp_path):
    save_mask(tmp_path / "masks" / "a.png", disc(60, 70, 41))
    out, photo = tmp_path / "out", squares / "a.png"
    assert segment(photo, out, foreground="masks", masks=tmp_path / "masks").code == 0
    unfinish(out)
    assert segment(photo, out, "--resume").code == 2


def overlap_with_truth(photo_folder: Path, outs: dict[str, Path]) -> float:
    """Mean IoU of what was found with the animal, over photos by stem and the run they are in."""
    overlap = []
    for stem, out in outs.items():
        found = label_map(out, f"{stem}.jpg") > 0
        animal = np.asarray(Image.open(photo_folder.parent / "labels" / f"{stem}.png")) > 0
        overlap.append((found & animal).sum() / (found | animal).sum())
    return float(np.mean(overlap))


def test_the_animals_are_found(finished_run, photo_folder):
    outs = {path.stem: finished_run for path in photo_folder.iterdir()}
    assert overlap_with_truth(photo_folder, outs) > 0.45  # 0.63 as written


def test_the_animal_of_a_single_photo_is_found(segment, photo_folder, tmp_path):
    outs = {f"animal_{index:04d}": tmp_path / f"{index}" for index in range(4)}
    for stem, out in outs.items():
        assert segment(photo_folder / f"{stem}.jpg", out).code == 0
    assert overlap_with_truth(photo_folder, outs) > 0.35  # 0.52 as written


def test_empty_masks_everywhere_are_blamed_on_the_masks(segment, squares, tmp_path):
    masks = tmp_path / "masks"
    for name in ("a.png", "deep/b.png"):
        save_mask(masks / name, np.zeros((128, 128)))
    result = segment(squares, tmp_path / "out", foreground="masks", masks=masks)
    assert result.code == 2
    assert f"the masks in {masks} are empty" in result.stderr.splitlines()[-1]
    assert "--foreground none" not in result.stderr


def test_regions_as_large_as_photos_are_blamed_on_the_option(segment, squares, tmp_path):
    result = segment(squares, tmp_path / "out", foreground="auto", min_region=10**7)
    assert result.code == 2
    last = result.stderr.splitlines()[-1]
    assert "every photo is a single region" in last and "--min-region 10000000" in last
