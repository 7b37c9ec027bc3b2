"""`partdino eval compare`."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def results(evaluate, cub_root, tmp_path):
    """Paths of results with the method `patch`, and with both baselines on fewer images."""
    paths = [tmp_path / name / "results.json" for name in "ab"]
    shared = ("cub", cub_root, "--parts", 2, 4, "--seeds", 1)
    evaluate(*shared, "--method", "patch", "--out", paths[0].parent)
    evaluate(
        *(*shared, "--method", "patch", "position", "--limit", 6, "--size", 224),
        *("--out", paths[1].parent),
    )
    return paths


def mean(path, method, parts, metric):
    summary = json.loads(path.read_text())["summary"]
    (row,) = [row for row in summary if (row["method"], row["parts"]) == (method, parts)]
    return row["scores"][metric]["mean"]


def test_the_same_variants_are_paired(partdino, results):
    finished = partdino("eval", "compare", *results, "--json")
    comparison = json.loads(finished.stdout)
    assert comparison["differing"] == ["images", "size", "limit"]
    rows = {(r["method"], r["parts"], r["metric"]): r for r in comparison["rows"]}
    row = rows["patch", 4, "nmi"]
    first, second = (mean(path, "patch", 4, "nmi") for path in results)
    assert (row["first"], row["second"]) == (first, second)
    assert row["difference"] == pytest.approx(second - first)
    alone = rows["position", 2, "ari"]
    assert alone["first"] is alone["difference"] is None
    assert alone["second"] == mean(results[1], "position", 2, "ari")


def test_two_methods_are_paired_by_the_number_of_parts(partdino, evaluate, results, cub_root):
    other = results[1].with_name("results_position")
    evaluate(
        *("cub", cub_root, "--parts", 4, 8, "--seeds", 1, "--method", "position"),
        *("--out", other),
    )
    finished = partdino("eval", "compare", results[0], other / "results.json", "--json")
    comparison = json.loads(finished.stdout)
    assert comparison["differing"] == []
    rows = {(r["method"], r["parts"], r["metric"]): r for r in comparison["rows"]}
    assert rows["patch / position", 4, "nmi"]["difference"] is not None
    assert rows["patch / position", 8, "nmi"]["first"] is None


def test_the_table_shows_both_and_warns(partdino, results):
    finished = partdino("eval", "compare", *results)
    assert f"{mean(results[0], 'patch', 4, 'nmi'):.2f}" in finished.stdout
    assert f"{mean(results[1], 'patch', 4, 'nmi'):.2f}" in finished.stdout
    assert "not the same test: they differ in images, size, limit" in finished.stderr


def test_what_is_no_result_is_refused(partdino, results, tmp_path):
    for content in ("", "[]", "{}"):
        (tmp_path / "other.json").write_text(content)
        finished = partdino("eval", "compare", results[0], tmp_path / "other.json")
        assert finished.code == 2 and "other.json" in finished.stderr
    document = json.loads(results[0].read_text()) | {"benchmark": "celeba"}
    (tmp_path / "other.json").write_text(json.dumps(document))
    finished = partdino("eval", "compare", results[0], tmp_path / "other.json")
    assert finished.code == 2 and "one is of cub, the other of celeba" in finished.stderr
