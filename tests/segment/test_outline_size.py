"""`--outline-size`: outlines that follow the photo."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from segment_runs import SMALL, content, label_bytes, label_map, stems

from partdino import PartDiscovery


@pytest.fixture(scope="module")
def coarse(segment, photo_folder, tmp_path_factory):
    """The run of the eight photos with outlines as its regions have them."""
    out = tmp_path_factory.mktemp("coarse") / "out"
    assert segment(photo_folder, out, "--outline-size", 0).code == 0
    return out


def size_of(out) -> int:
    return json.loads((out / "run.json").read_text())["fingerprint"]["outline_size"]


def test_outlines_move_a_little_and_nothing_else_does(finished_run, coarse):
    moved = []
    for name in stems(finished_run):
        fine, rough = label_map(finished_run, name), label_map(coarse, name)
        both = (fine > 0) & (rough > 0)
        assert (fine == rough)[both].mean() > 0.995
        moved.append(((fine > 0) != (rough > 0)).mean())
    assert 0 < np.mean(moved) < 0.08
    assert (size_of(finished_run), size_of(coarse)) == (2048, 0)
    same = ("parts.safetensors", "config.yaml")
    assert all(content(coarse)[name] == content(finished_run)[name] for name in same)


def test_more_pixels_than_the_photo_has_change_nothing(
    segment, photo_folder, finished_run, tmp_path
):
    out = tmp_path / "out"
    assert segment(photo_folder, out, "--outline-size", 4000).code == 0
    assert label_bytes(out) == label_bytes(finished_run)
    assert segment(photo_folder, out, "--outline-size", 64, "--overwrite").code == 0
    assert label_bytes(out) != label_bytes(finished_run)


def test_a_run_goes_on_as_it_began(segment, photo_folder, coarse, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(coarse, out)
    for flag in ("--resume", "--update"):
        refused = segment(photo_folder, out, flag, "--outline-size", 2048)
        assert refused.code == 2 and "outline_size (0, now 2048)" in refused.stderr
        assert segment(photo_folder, out, flag).code == 0
    assert content(out / "labels") == content(coarse / "labels")


def test_an_update_adds_photos_with_the_outlines_of_the_run(
    segment, photo_folder, coarse, tmp_path
):
    photos, out = tmp_path / "photos", tmp_path / "out"
    shutil.copytree(photo_folder, photos)
    names = sorted(path for path in photos.rglob("*") if path.is_file())
    names[0].rename(tmp_path / names[0].name)
    model = coarse / "parts.safetensors"
    assert segment(photos, out, "--model", model, "--outline-size", 0).code == 0
    (tmp_path / names[0].name).rename(names[0])
    assert segment(photos, out, "--update").code == 0
    assert label_bytes(out) == label_bytes(coarse)


def test_of_a_mask_the_outline_stays(segment, photo_folder, coarse, tmp_path):
    masks = tmp_path / "masks"
    for place in coarse.joinpath("labels").rglob("*.png"):
        target = masks / place.relative_to(coarse / "labels")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(place, target)
    results = []
    for size in (0, 2048):
        out = tmp_path / str(size)
        assert segment(photo_folder, out, "--outline-size", size, masks=masks).code == 0
        results.append(label_bytes(out))
    assert results[0] == results[1]


def test_the_estimator_draws_the_same_outlines(photo_folder, finished_run, coarse):
    options = {name: value for name, value in SMALL.items() if name != "workers"}
    discovery = PartDiscovery(workers=0, **options).fit(photo_folder)
    for size, out in ((2048, finished_run), (0, coarse)):
        for result in discovery.predict(photo_folder, outline_size=size):
            np.testing.assert_array_equal(result.label_map, label_map(out, result.name))
