"""`partdino eval` on every benchmark's layout, from the folder to the results."""

from __future__ import annotations

import csv
import json
import math

import pytest

KEYPOINT_SCORES = {"nmi", "ari", "fg_nmi", "fg_ari", "keypoint_regression"}
CUB_SCORES = {*KEYPOINT_SCORES, "object_keypoints", "outside_box"}
PIXEL_SCORES = {
    *("nmi", "ari", "fg_nmi", "fg_ari", "miou"),
    *("band_nmi", "band_ari", "band_miou", "boundary_f"),
    *("object_recall", "object_recall_worst", "outside_hull"),
}


def flat(document):
    return {(row["method"], row["parts"], row["seed"]): row["scores"] for row in document["scores"]}


@pytest.mark.parametrize(
    ("command", "layout", "options", "metrics", "counts"),
    [
        ("cub", "cub", (), CUB_SCORES, {"fit": 8, "regression": 8, "score": 8}),
        ("celeba", "celeba", ("--aligned",), KEYPOINT_SCORES, None),
        ("celeba", "celeba", ("--in-the-wild", "--limit", 3), KEYPOINT_SCORES, None),
        ("coco-parts", "coco", (), PIXEL_SCORES, {"fit": 6, "regression": 0, "score": 6}),
        ("partimagenet-seg", "coco", ("--eval-size", 224), PIXEL_SCORES, None),
        ("partimagenet-ood", "coco", ("--split-file", "LIST"), PIXEL_SCORES, None),
    ],
)
def test_every_benchmark_runs(
    command, layout, options, metrics, counts, evaluate, request, tmp_path
):
    root = request.getfixturevalue(f"{layout}_root")
    options = [root / "train_test_split.txt" if o == "LIST" else o for o in options]
    document = evaluate(
        *(command, root, *options, "--parts", 2, 4, "--seeds", 2, "--method", "all"),
        *("--out", tmp_path),
    )
    scores = flat(document)
    assert scores.keys() == {
        (method, parts, seed)
        for method in ("partdino", "patch", "position")
        for parts in (2, 4)
        for seed in (0, 1)
    }
    for values in scores.values():
        assert values.keys() == metrics
        assert all(math.isfinite(value) for value in values.values())
        assert all(-50 <= values[name] <= 100 for name in metrics - {"keypoint_regression"})
    assert not document["comparable"]
    if counts:
        assert document["dataset"]["used"] == counts
    assert json.loads((tmp_path / "results.json").read_text()) == document
    rows = list(csv.DictReader((tmp_path / "results.csv").open()))
    assert (
        len(rows) == len(scores) and float(rows[0]["nmi"]) == document["scores"][0]["scores"]["nmi"]
    )
    assert "| partdino | 4 |" in (tmp_path / "results.md").read_text()


def test_an_incomplete_copy_is_scored_and_marked(run_eval, evaluate, cub_root):
    arguments = ("cub", cub_root, "--parts", 16, "--seeds", 1, "--method", "position")
    document = evaluate(*arguments)
    assert document["not_comparable_because"] == ["incomplete copy of the data set"]
    assert "8 of 5,794 score images" in document["dataset"]["warnings"][0]
    (published,) = document["published"]
    assert (published["method"], published["training"]) == ("MPAE", "trained")
    assert published["scores"] == {"nmi": 79.0, "ari": 66.56}
    beside_four = evaluate(*arguments[:3], 4, *arguments[4:])["published"]
    assert [row["training"] for row in beside_four] == ["training-free", "trained"]
    assert all("NABirds" in row["method"] for row in beside_four)
    finished = run_eval(*arguments)
    assert "MPAE" in finished.stdout and "79.00" in finished.stdout
    assert "Not comparable with published numbers" in finished.stdout
    assert "incomplete copy" in finished.stderr
    assert max(map(len, finished.stdout.splitlines())) <= 80


def test_mean_and_spread_are_over_the_seeds(evaluate, cub_root):
    document = evaluate("cub", cub_root, "--parts", 4, "--seeds", 3, "--method", "patch")
    values = [row["scores"]["nmi"] for row in document["scores"]]
    assert len(set(values)) > 1
    (summary,) = document["summary"]
    mean = sum(values) / 3
    assert summary["seeds"] == 3
    assert summary["scores"]["nmi"]["mean"] == pytest.approx(mean)
    spread = math.sqrt(sum((value - mean) ** 2 for value in values) / 2)
    assert summary["scores"]["nmi"]["spread"] == pytest.approx(spread)


def test_the_true_foreground_leaves_unlabelled_pixels_out(evaluate, coco_root):
    shared = ("coco-parts", coco_root, "--parts", 4, "--seeds", 1, "--method", "all")
    true = evaluate(*shared, "--foreground", "ground-truth", "--split", "train")
    assert true["protocol"]["labelled_only"] and true["dataset"]["used"]["score"] == 6
    for row in true["scores"]:
        assert {"nmi", "ari", "miou"} <= row["scores"].keys()
        assert "fg_nmi" not in row["scores"]  # it would be the same
        assert "object_recall" not in row["scores"]  # all of it is
    full = evaluate(*shared, "--foreground", "ground-truth", "--eval-size", "full")
    assert full["protocol"]["eval_size"] == "full"
    assert flat(full).keys() == flat(true).keys()


def test_keypoints_have_no_true_foreground(partdino, cub_root):
    finished = partdino("eval", "cub", cub_root, "--foreground", "ground-truth")
    assert finished.code == 2
    assert "no masks" in finished.stderr and finished.stderr.count("\n") == 1
