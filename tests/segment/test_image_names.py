"""What label maps and overlays are called, and that runs from before 0.2 stay readable."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from segment_runs import DESCRIBING, content, files, flags, label_bytes

from partdino.runs.image_names import image_stems
from partdino.runs.review.finished import open_run


@pytest.mark.parametrize(
    ("names", "taken", "stems"),
    [
        (["a.jpg", "b/a.png"], [], ["a", "b/a"]),
        (["a.jpg", "a.png", "c.png"], [], ["a.jpg", "a.png", "c"]),
        (["A.jpg", "a.png"], [], ["A.jpg", "a.png"]),
        (["u\u0308.jpg", "\u00fc.png"], [], ["u\u0308.jpg", "\u00fc.png"]),
        (["x.jpg", "x.jpg.jpg", "x.png"], [], ["x.jpg", "x.jpg.jpg", "x.png"]),
        (["a", "a.jpg"], [], ["a", "a.jpg"]),
        (["a.png"], ["a"], ["a.png"]),
        (["x.jpg"], ["x", "x.jpg"], ["x.jpg.jpg"]),
        (["a"], ["a"], ["a_"]),
    ],
)
def test_stems(names, taken, stems):
    assert image_stems(names, taken) == dict(zip(names, stems, strict=True))


@pytest.fixture
def photos(photo_folder, tmp_path) -> Path:
    """Three photos, two of which differ in their suffix alone."""
    folder = tmp_path / "in"
    folder.mkdir()
    shutil.copy(photo_folder / "animal_0000.jpg", folder / "bird.jpg")
    for index, name in ((1, "bird.png"), (2, "wren.png")):
        with Image.open(photo_folder / f"animal_{index:04d}.jpg") as photo:
            photo.save(folder / name)
    return folder


def test_only_photos_of_one_stem_keep_their_whole_name(segment, photos, tmp_path):
    out = tmp_path / "out"
    result = segment(photos, out)
    assert result.code == 0
    assert "2 photos have the name of another but for the suffix (bird.jpg, bird.png)" in (
        result.stderr
    )
    assert files(out / "labels") == ["bird.jpg.png", "bird.png.png", "wren.png"]
    assert files(out / "overlays") == ["bird.jpg.jpg", "bird.png.jpg", "wren.jpg"]


def test_a_label_map_keeps_its_name(segment, partdino, photos, tmp_path):
    out, update = tmp_path / "out", ("segment", photos, "--out", tmp_path / "out", "--update")
    (photos / "bird.png").rename(tmp_path / "bird.png")
    assert segment(photos, out).code == 0
    assert files(out / "labels") == ["bird.png", "wren.png"]
    before = label_bytes(out)
    (tmp_path / "bird.png").rename(photos / "bird.png")
    shutil.copy(photos / "bird.jpg", photos / "wren.png")
    assert partdino(*update, "--workers", 0).code == 0
    assert files(out / "labels") == ["bird.png", "bird.png.png", "wren.png"]
    assert files(out / "overlays") == ["bird.jpg", "bird.png.jpg", "wren.jpg"]
    after = label_bytes(out)
    assert after["bird.jpg"] == before["bird.jpg"] and after["wren.png"] != before["wren.png"]
    # What is taken out makes room.
    (photos / "bird.jpg").unlink()
    shutil.copy(photos / "wren.png", photos / "bird.webp")
    assert partdino(*update, "--drop-removed", "--workers", 0).code == 0
    assert files(out / "labels") == ["bird.png", "bird.png.png", "wren.png"]
    assert sorted(label_bytes(out)) == ["bird.png", "bird.webp", "wren.png"]


def test_shards_choose_as_the_whole_does(partdino, segment, photos, tmp_path):
    (photos / "wren.png").rename(photos / "ant.png")
    store, whole = tmp_path / "store", tmp_path / "whole"
    assert partdino("features", photos, "--out", store, *flags(DESCRIBING)).code == 0
    model = tmp_path / "model.safetensors"
    assert partdino("fit", store, "--out", model, "--parts", 2).code == 0
    label = ("label", store, "--model", model, "--workers", 0)
    shards = [tmp_path / f"shard {number}" for number in (1, 2, 3)]
    for number, shard in enumerate(shards, start=1):
        assert partdino(*label, "--shard", f"{number}/3", "--out", shard).code == 0
    assert files(shards[1] / "labels") == ["bird.jpg.png"]
    assert partdino(*label, "--out", whole).code == 0
    assert partdino("merge", tmp_path / "merged", *shards).code == 0
    assert content(tmp_path / "merged", "run.json") == content(whole, "run.json")


@pytest.fixture
def older(segment, photo_folder, tmp_path) -> Path:
    """A run whose files are those of before 0.2: other names, and nothing for a review."""
    (tmp_path / "in").mkdir()
    for index in range(3):
        shutil.copy(photo_folder / f"animal_{index:04d}.jpg", tmp_path / "in" / f"{index}.jpg")
    assert segment(tmp_path / "in", tmp_path / "out").code == 0
    shutil.rmtree(tmp_path / "out" / "review")
    for kind, suffix in (("labels", ".png"), ("overlays", ".jpg")):
        for index in range(3):
            file = tmp_path / "out" / kind / f"{index}{suffix}"
            file.rename(file.with_name(f"{index}.jpg{suffix}"))
    results = tmp_path / "out" / "results.jsonl"
    lines = [json.loads(line) for line in results.read_text().splitlines()]
    kept = [{k: v for k, v in line.items() if k != "file"} for line in lines]
    results.write_text("".join(json.dumps(line) + "\n" for line in kept))
    return tmp_path


def test_an_older_run_is_read_by_every_command(partdino, segment, older):
    out = older / "out"
    assert sorted(label_bytes(out)) == ["0.jpg", "1.jpg", "2.jpg"]
    before = content(out)
    assert "nothing is left to do" in segment(older / "in", out, "--resume").stderr
    assert partdino("measure", out, "--out", older / "m", "--workers", 0).code == 0
    export = ("export", out, "--format", "masks", "--out", older / "masks")
    assert partdino(*export).code == 0
    assert files(older / "masks") == [f"masks/{index}.png" for index in range(3)]
    run = open_run(out)
    for index in range(3):
        label_map = run.images[index].recall(out).label_map
        assert run.size(index) == label_map.shape and label_map.any()
    assert content(out) == before
    masked = segment(older / "in", older / "masked", masks=out / "labels", foreground="masks")
    assert masked.code == 0
    for name, found in label_bytes(older / "masked").items():
        assert ((_read(found) > 0) == (_read(label_bytes(out)[name]) > 0)).mean() > 0.95


def test_an_older_run_is_updated(partdino, segment, older):
    out = older / "out"
    shutil.copy(older / "in" / "1.jpg", older / "in" / "0.jpg")
    shutil.copy(older / "in" / "1.jpg", older / "in" / "3.jpg")
    before = label_bytes(out)
    command = ("segment", older / "in", "--out", out, "--update", "--workers", 0)
    assert partdino(*command).code == 0
    assert files(out / "labels") == ["0.jpg.png", "1.jpg.png", "2.jpg.png", "3.png"]
    assert files(out / "overlays") == ["0.jpg.jpg", "1.jpg.jpg", "2.jpg.jpg", "3.jpg"]
    after = label_bytes(out)
    assert after["2.jpg"] == before["2.jpg"] and after["0.jpg"] == after["3.jpg"]
    assert segment(older / "in", out, "--overwrite").code == 0
    assert files(out / "labels") == ["0.png", "1.png", "2.png", "3.png"]


def _read(png: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(png)))
