"""What `segment` keeps of each photo for mending and splitting."""

from __future__ import annotations

import numpy as np
from segment_runs import content, files, label_map

from partdino.parts.label_map import resize_label_map
from partdino.parts.model_file import load_model
from partdino.runs.writers.pieces import pieces_path, read_pieces


def pieces_of(out, name):
    clusters = load_model(out / "parts.safetensors").parts
    return read_pieces(out, name, len(clusters.parts)), clusters


def test_the_label_map_follows_from_its_pieces(segment, photo_folder, finished_run, tmp_path):
    out = tmp_path / "out"
    assert segment(photo_folder, out, "--outline-size", 0).code == 0
    assert content(out / "review") == content(finished_run / "review")
    names = [name.removesuffix(".png") for name in files(out / "labels")]
    assert files(out / "review") == [f"{name}.npz" for name in names]
    for name in names:
        pieces, clusters = pieces_of(out, name)
        labels = label_map(out, name)
        again = resize_label_map(pieces.labels(clusters.parts + 1), labels.shape)
        assert (again == labels).all()
        assert len(np.unique(pieces.regions)) > 4


def test_without_it_everything_else_is_the_same(segment, photo_folder, finished_run, tmp_path):
    out = tmp_path / "out"
    assert segment(photo_folder, out, "--no-review").code == 0
    assert not (out / "review").exists()
    kept = content(finished_run, "run.json")
    ours = content(out, "run.json")
    assert ours == {name: kept[name] for name in kept if not name.startswith("review/")}
    assert pieces_of(out, "animal_0000")[0] is None


def test_it_goes_with_the_results_and_comes_with_new_ones(segment, photo_folder, tmp_path):
    out = tmp_path / "out"
    assert segment(photo_folder, out).code == 0
    before = content(out / "review")
    assert segment(photo_folder, out, "--overwrite", "--no-review", parts=3).code == 0
    assert not (out / "review").exists()
    assert segment(photo_folder, out, "--overwrite").code == 0
    assert content(out / "review") == before


def test_a_damaged_file_is_as_good_as_none(finished_run, tmp_path):
    name = "a.jpg"
    path = pieces_path(tmp_path, name)
    path.parent.mkdir()
    good = pieces_path(finished_run, "animal_0000").read_bytes()
    path.write_bytes(good)
    assert read_pieces(tmp_path, name, 1) is None  # of a model with more clusters
    for bad in (good[:300], b"", b"PK"):
        path.write_bytes(bad)
        assert read_pieces(tmp_path, name, 500) is None
    np.savez(path.with_suffix(""), regions=np.zeros((2, 2), np.uint16))
    assert read_pieces(tmp_path, name, 500) is None
