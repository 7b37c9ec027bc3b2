"""`segment --update --refit`: new parts of all photos; those that are the old ones keep numbers."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from segment_runs import content, forked, kill, label_bytes, label_map

from partdino.metrics import ari_from_contingency, contingency_table
from partdino.parts.model_file import load_model, save_model
from partdino.runs.refit import Match, renumbered
from partdino.runs.review import PartReview, Review, read_review, write_review


@pytest.fixture
def shuffled(segment, photo_folder, tmp_path) -> Path:
    """Six photos and a run over five, whose parts have the numbers of a fit in reverse."""
    root = tmp_path / "run"
    (root / "in").mkdir(parents=True)
    for index in range(5):
        shutil.copy(photo_folder / f"animal_{index:04d}.jpg", root / "in" / f"{index}.jpg")
    assert segment(root / "in", root / "fitted").code == 0
    model = load_model(root / "fitted" / "parts.safetensors")
    save_model(renumbered(model, [4, 3, 2, 1]), root / "reversed.safetensors")
    given = ("--model", root / "reversed.safetensors")
    assert segment(root / "in", root / "out", *given).code == 0
    shutil.copy(photo_folder / "animal_0005.jpg", root / "in" / "5.jpg")
    return root


def refit(partdino, root: Path, *more: object):
    command = ("segment", root / "in", "--out", root / "out", "--update", "--refit")
    return partdino(*command, "--workers", 0, *more)


def test_renumbered_parts_are_the_same_parts(shuffled):
    for name in ("0.jpg", "4.jpg"):
        fitted, reverse = (label_map(shuffled / out, name) for out in ("fitted", "out"))
        # But for a few pixels between two parts, which go to the lower number.
        assert (np.array([0, 4, 3, 2, 1])[fitted] == reverse).mean() > 0.995


def test_a_refit_keeps_the_numbers_of_the_parts(partdino, segment, shuffled):
    old = {name: label_map(shuffled / "out", name) for name in ("0.jpg", "2.jpg")}
    result = refit(partdino, shuffled, "--json")
    assert result.code == 0, result.stderr
    said = json.loads(result.stdout)["refit"]
    assert said["photos"] == 5 and len(said["parts"]) == 4
    assert "Old and new parts agree to" in result.stderr and "on 5 photos" in result.stderr
    # The parts of the whole are those of a run that fits them, under the old numbers.
    assert segment(shuffled / "in", shuffled / "fresh").code == 0
    table = np.zeros((5, 5), np.int64)
    pixels = np.zeros((5, 5), np.int64)
    for name in label_bytes(shuffled / "out"):
        new, fresh = (label_map(shuffled / out, name) for out in ("out", "fresh"))
        pixels += contingency_table(fresh, new, (5, 5))
        if name != "5.jpg":
            before = label_map(shuffled / "fitted", name)
            table += contingency_table(np.array([0, 4, 3, 2, 1])[before], new, (5, 5))
    assert sorted(pixels.argmax(axis=1)) == [0, 1, 2, 3, 4]
    assert pixels.max(axis=1).sum() > 0.995 * pixels.sum()
    # It is of the new parts before their outlines are refined: that would read every photo twice.
    assert said["agreement"] == pytest.approx(ari_from_contingency(table[1:, 1:]), abs=0.03)
    for name, label in old.items():
        same = contingency_table(label, label_map(shuffled / "out", name), (5, 5))
        assert np.trace(same[1:, 1:]) > 0.5 * same[1:, 1:].sum()
    resumed = partdino(
        "segment", shuffled / "in", "--out", shuffled / "out", "--update", "--workers", 0
    )
    assert resumed.code == 0 and "nothing is left to do" in resumed.stderr


def test_a_match_says_what_is_new_and_what_is_gone():
    # Old parts 1, 2, 3; new ones: 1 is old 3, 2 is nothing known; old 1 and 2 meet new 3 alone.
    table = np.array([[50, 0, 9, 0], [0, 0, 0, 10], [0, 0, 0, 4], [0, 7, 0, 0]])
    match = Match(table, photos=2)
    assert match.numbers == [3, 2, 1]
    assert match.document["parts"] == [
        {"was": 1, "is": 1, "iou": round(10 / 14, 4)},
        {"was": 3, "is": 3, "iou": 1.0},
        {"was": 2, "is": None, "iou": 0.0},
        {"was": None, "is": 2, "iou": 0.0},
    ]
    assert match.agreement == pytest.approx(ari_from_contingency(table[1:, 1:]))
    assert match.same == {1: 1, 3: 3}
    assert [line for line in match.lines if "Part" in line] == ["Part 2 is gone.", "Part 2 is new."]
    # Fewer parts than before: a number above their count falls to a free place, and that is said.
    fewer = Match(np.array([[9, 0, 0], [0, 0, 0], [0, 5, 0], [0, 0, 5]]), photos=1)
    assert fewer.numbers == [2, 1]
    assert "Part 1 was part 3; 100% of what either has is of both." in fewer.lines


def test_what_stays_true_of_a_review():
    table = np.array([[9, 0, 0, 0], [0, 9, 0, 0], [0, 0, 2, 9], [0, 0, 9, 0]])
    said = {
        1: PartReview(name="head"),
        2: PartReview(name="wing", colour="#ff0000"),
        3: PartReview(merged_into=1),
    }
    review = Review("old", 7, said, {"a.jpg": "fine", "b.jpg": "excluded", "c.jpg": "wrong"})
    kept = Match(table, 1).review(review, "new")
    assert kept == Review("new", 8, said, {"b.jpg": "excluded"})
    lost = Match(np.array([[9, 0, 0], [0, 2, 9], [0, 0, 1], [0, 9, 0]]), 1).review(review, "new")
    assert lost.parts == {1: PartReview(name="head"), 2: PartReview(merged_into=1)}


def test_a_review_follows_the_parts(partdino, shuffled):
    out = shuffled / "out"
    sha256 = json.loads((out / "results.jsonl").read_text().splitlines()[0])["model_sha256"]
    names = {number: PartReview(name=f"part {number}") for number in range(1, 5)}
    write_review(out, Review(sha256, 1, names, {"0.jpg": "excluded"}))
    result = refit(partdino, shuffled, "--json")
    assert result.code == 0, result.stderr
    new = json.loads((out / "results.jsonl").read_text().splitlines()[0])["model_sha256"]
    assert new != sha256
    review = read_review(out, new, 4)
    parts = json.loads(result.stdout)["refit"]["parts"]
    assert {n: p.name for n, p in review.parts.items()} == {
        part["is"]: f"part {part['was']}" for part in parts if part["iou"] >= 0.5
    }
    assert review.photos == {"0.jpg": "excluded"}


def test_a_refit_loses_no_results_unasked(partdino, shuffled):
    (shuffled / "in" / "1.jpg").unlink()
    before = content(shuffled / "out")
    result = refit(partdino, shuffled)
    assert result.code == 2 and "--drop-removed takes them out" in result.stderr
    assert content(shuffled / "out") == before
    assert refit(partdino, shuffled, "--drop-removed", "--parts", 2).code == 0
    assert "1.jpg" not in label_bytes(shuffled / "out")
    assert json.loads((shuffled / "out" / "run.json").read_text())["parts"]["found"] == 2


@pytest.mark.parametrize(
    ("more", "said"),
    [(["--model", "reversed.safetensors"], "pass one of them"), (["--resume"], "pass one of them")],
)
def test_options_that_exclude_each_other(partdino, shuffled, monkeypatch, more, said):
    monkeypatch.chdir(shuffled)
    result = refit(partdino, shuffled, *more)
    assert result.code == 2 and said in result.stderr
    alone = partdino("segment", "in", "--out", "out", "--refit")
    assert alone.code == 2 and "--refit goes with --update" in alone.stderr


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_killed_refit_goes_on(partdino, segment, shuffled, tmp_path):
    shutil.copytree(shuffled, tmp_path / "whole", copy_function=shutil.copy2)
    assert refit(partdino, tmp_path / "whole").code == 0
    new = label_bytes(tmp_path / "whole" / "out")
    old = content(shuffled / "out")
    kinds = set()
    for at in (3, 40, 60, 80, 100, 120, 160):
        root = tmp_path / str(at)
        shutil.copytree(shuffled, root, copy_function=shutil.copy2)
        code = forked(partial(refit, partdino, root), root / "out", at, kill)
        found = content(root / "out")
        if code and not (root / "out" / ".partdino" / "whole").exists():
            assert {name: found.get(name) for name in old} == old
            if (root / "out" / ".partdino" / "fingerprint.json").exists():
                kinds.add("unfinished")
                other = segment(root / "in", root / "out", "--resume")
                assert other.code == 2 and "go on with --update --refit first" in other.stderr
        result = refit(partdino, root)
        assert result.code == 0, (at, result.stderr)
        assert label_bytes(root / "out") == new and not (root / "out" / ".partdino").exists()
    assert kinds
