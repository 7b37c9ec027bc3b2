"""`partdino export`: what all formats have in common."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from export_runs import EMPTY, NAMES, PARTS, SIZE, make_labels, write_photo, write_run
from PIL import Image
from segment_runs import SMALL, content, files, flags, label_map, quick_backbone

from partdino.runs.exports.finished import FinishedRun
from partdino.runs.exports.formats import NAMES as FORMATS


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_leaves_the_run_as_it_was(export, run, format):
    before = content(run)
    out = export(format, "--with-photos")
    assert content(run) == before
    assert files(out) and not any(".partdino" in name for name in files(out))


def test_one_reader_gives_names_sizes_and_label_maps(run, label_maps):
    finished = FinishedRun(run)
    assert [recorded.name for recorded in finished] == NAMES
    assert (finished.num_images, finished.num_parts) == (len(NAMES), PARTS)
    assert [part.name for part in finished.parts()] == ["part_01", "part_02", "part_03", "part_04"]
    assert finished.parts()[0].hex == "#ff9200"


def test_parts_that_are_not_exported_are_background(export, label_maps):
    out = export("masks", "--only", 2, "--only", 4)
    for name, labels in label_maps.items():
        mask = np.asarray(Image.open(out / "masks" / Path(name).with_suffix(".png")))
        np.testing.assert_array_equal(mask, np.where(np.isin(labels, (2, 4)), labels, 0))


def test_dropping_is_the_rest_of_only(export, partdino, run, tmp_path):
    kept = content(export("masks", "--drop", 1, "--drop", 3))
    partdino("export", run, "--format", "masks", "--out", tmp_path / "b", "--only", 2, "--only", 4)
    assert content(tmp_path / "b") == kept


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--only", 5], "no part 5 to export; the parts are 1, 2, 3, 4"),
        (["--only", 1, "--drop", 2], "pass one of them"),
        ([f"--drop={part}" for part in range(1, 5)], "leaves no part"),
        (["--format", "nothing"], "unknown format 'nothing'; take one of"),
        (["--coco-ids", "x.json"], "of no use with masks"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(partdino, run, tmp_path, arguments, said):
    out = tmp_path / "out"
    result = partdino("export", run, "--format", "masks", "--out", out, *arguments)
    assert result.code == 2
    assert said in result.stderr and len(result.stderr.splitlines()) == 1
    assert not out.exists()


def test_a_folder_that_is_not_empty_is_refused(partdino, run, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    result = partdino("export", run, "--format", "masks", "--out", tmp_path)
    assert result.code == 2 and "is not empty" in result.stderr
    assert files(tmp_path) == ["mine.txt"]


def test_an_empty_folder_is_filled(partdino, run, tmp_path):
    (tmp_path / "out").mkdir()
    result = partdino("export", run, "--format", "masks", "--out", tmp_path / "out")
    assert result.code == 0, result.stderr
    assert len(files(tmp_path / "out")) == len(NAMES)


@pytest.mark.parametrize("inside", [".", "export", "labels/export"])
def test_the_run_itself_is_never_written_to(partdino, run, inside):
    before = content(run)
    result = partdino("export", run, "--format", "masks", "--out", run / inside)
    assert result.code == 2 and "choose another --out" in result.stderr
    assert content(run) == before


def test_an_unfinished_run_is_refused(partdino, tmp_path):
    run = write_run(tmp_path / "run", {"a.jpg": make_labels(0)}, tmp_path)
    (run / ".partdino").mkdir()
    result = partdino("export", run, "--format", "masks", "--out", tmp_path / "out")
    assert result.code == 2 and "unfinished run; finish it with" in result.stderr


def test_a_folder_of_something_else_is_refused(partdino, tmp_path):
    result = partdino("export", tmp_path, "--format", "masks", "--out", tmp_path / "out")
    assert result.code == 2 and "holds no finished run" in result.stderr


@pytest.mark.parametrize("names", [("a/x.jpg", "a/x.png"), ("a/X.jpg", "a/x.png")])
def test_photos_of_one_stem_keep_their_suffix(partdino, tmp_path, names):
    labels = {name: make_labels(i) for i, name in enumerate(("a.jpg", *names))}
    run = write_run(tmp_path / "run", labels, tmp_path)
    result = partdino("export", run, "--format", "masks", "--out", tmp_path / "out")
    assert result.code == 0, result.stderr
    for name, expected in labels.items():
        with Image.open(tmp_path / "out" / "masks" / f"{name}.png") as image:
            assert np.array_equal(np.asarray(image), expected)


@pytest.mark.parametrize("format", ["cvat", "labelme", "voc", "yolo-seg"])
def test_tools_that_know_photos_by_stem_need_copies_of_their_own(partdino, tmp_path, format):
    labels = {name: make_labels(0) for name in ("x.jpg", "x.png")}
    run = write_run(tmp_path / "run", labels, tmp_path)
    for name in labels:
        write_photo(tmp_path / name, 1, np.random.default_rng(0))
    plain = ("export", run, "--format", format, "--out", tmp_path / "out")
    result = partdino(*plain)
    assert result.code == 2
    assert "x.jpg and x.png are one photo to the tools of" in result.stderr
    assert "pass --with-photos" in result.stderr and not (tmp_path / "out").exists()
    assert partdino(*plain, "--with-photos").code == 0
    files = {path.name for path in (tmp_path / "out").rglob("*")}
    assert {"x.jpg.jpg", "x.png.png"} <= files


def test_an_image_that_cannot_be_exported_stops_no_other(partdino, tmp_path):
    rng = np.random.default_rng(0)
    labels = {name: make_labels(0) for name in ("good.png", "gone.png", "other.png", "torn.png")}
    run = write_run(tmp_path / "run", labels, tmp_path)
    write_photo(tmp_path / "good.png", 1, rng)
    write_photo(tmp_path / "torn.png", 1, rng)
    Image.new("RGB", (9, 9)).save(tmp_path / "other.png")
    (run / "labels" / "torn.png.png").write_bytes(b"torn")
    out = tmp_path / "out"
    result = partdino("export", run, "--format", "masks", "--out", out, "--with-photos", "--json")
    assert result.code == 1
    assert files(out) == ["images/good.png", "masks/good.png"]
    summary = json.loads(result.stdout)
    assert summary["images"] == 1 and set(summary["failed"]) == set(labels) - {"good.png"}
    assert f"9 x 9 pixels, while its label map has {SIZE[1]} x {SIZE[0]}" in result.stderr
    assert "no such file" in result.stderr


def test_nothing_is_left_where_nothing_can_be_exported(partdino, tmp_path):
    run = write_run(tmp_path / "run", {"gone.jpg": make_labels(0)}, tmp_path)
    result = partdino("export", run, "--format", "upright", "--out", tmp_path / "out")
    assert result.code == 2 and "no image" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_quiet_says_nothing(partdino, run, tmp_path):
    result = partdino("export", run, "--format", "masks", "--out", tmp_path / "out", "--quiet")
    assert (result.code, result.stdout, result.stderr) == (0, "", "")


def test_the_empty_photo_is_empty(label_maps):
    assert not label_maps[EMPTY].any()


@pytest.mark.parametrize("format", ["masks", "crops", "coco-polygons", "label-studio"])
def test_memory_does_not_grow_with_the_number_of_photos(partdino, tmp_path, format):
    rng = np.random.default_rng(0)
    labels = np.kron(make_labels(0, size=(15, 20)), np.ones((20, 20), np.uint8))
    peaks = []
    for count in (4, 4, 24):  # at first, modules are loaded
        root = tmp_path / str(len(peaks))
        names = [f"{index}.png" for index in range(count)]
        (root / "photos").mkdir(parents=True)
        for name in names:
            pixels = rng.integers(0, 256, (300, 400, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(root / "photos" / name)
        run = write_run(root / "run", dict.fromkeys(names, labels), root / "photos")
        tracemalloc.start()
        result = partdino("export", run, "--format", format, "--out", root / "out")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert result.code == 0, result.stderr
    assert peaks[2] < peaks[1] + 5 * labels.nbytes  # a fourth of the twenty label maps more


def test_a_run_of_segment_is_exported(partdino, photo_folder, tmp_path):
    pytest.importorskip("torch", reason="segment needs PyTorch")
    run = tmp_path / "run"
    with quick_backbone():
        assert partdino("segment", photo_folder, "--out", run, *flags(SMALL)).code == 0
    result = partdino("export", run, "--format", "masks", "--out", tmp_path / "out")
    assert result.code == 0, result.stderr
    masks = tmp_path / "out" / "masks"
    assert files(masks) == [f"animal_{index:04d}.png" for index in range(8)]
    for name in files(masks):
        labels = label_map(run, Path(name).with_suffix(".jpg").name)
        np.testing.assert_array_equal(np.asarray(Image.open(masks / name)), labels)
