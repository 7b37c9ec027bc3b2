"""What `partdino eval` says where something is wrong: one line, and the exit code."""

from __future__ import annotations

import json
import shutil

import pytest


def error_of(finished) -> str:
    assert finished.code == 2 and finished.stdout == ""
    errors = [line for line in finished.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1 and finished.stderr.rstrip().endswith(errors[0])
    assert "unexpected" not in errors[0]
    return errors[0]


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("cub", "no images.txt"),
        ("celeba", "no img_celeba"),
        ("coco-parts", "no annotations/train.json"),
        ("partimagenet-seg", "no annotations/train.json"),
    ],
)
def test_a_folder_of_something_else(run_eval, tmp_path, command, says):
    message = error_of(run_eval(command, tmp_path))
    assert says in message and str(tmp_path) in message and "; " in message


def test_a_malformed_file(run_eval, cub_root, tmp_path):
    root = shutil.copytree(cub_root, tmp_path / "cub")
    (root / "bounding_boxes.txt").write_text("1 2 3\n")
    assert "bounding_boxes.txt: line 1" in error_of(run_eval("cub", root))


def test_a_split_without_images(run_eval, coco_root, tmp_path):
    root = shutil.copytree(coco_root, tmp_path / "coco")
    shutil.rmtree(root / "images" / "test")
    assert "no image" in error_of(run_eval("partimagenet-seg", root))


def test_the_list_of_ood_is_asked_for(run_eval, coco_root):
    assert "needs --split-file" in error_of(run_eval("partimagenet-ood", coco_root))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--eval-size", "big"), "eval_size is 'big'"),
        (("--eval-size", 4), "eval_size is '4'"),
        (("--min-region", 0), "--min-region"),
        (("--method", "other"), "method is 'other'"),
        (("--parts", 0), "--parts"),
        (("--parts", "four"), "--parts"),
        (("--size", 448), "--size"),
    ],
)
def test_options_that_cannot_work(run_eval, coco_root, options, says):
    finished = run_eval("coco-parts", coco_root, *options)
    assert finished.code == 2 and says in finished.stderr


def test_a_bad_image_stops_nothing(evaluate, cub_root, tmp_path):
    root = shutil.copytree(cub_root, tmp_path / "cub")
    bad = sorted((root / "images").rglob("*.jpg"))[3]
    bad.write_bytes(bad.read_bytes()[:200])
    out = tmp_path / "out"
    document = evaluate("cub", root, "--parts", 4, "--seeds", 1, "--out", out, code=1)
    (failure,) = document["failures"]
    assert failure["name"] == bad.relative_to(root / "images").as_posix() and failure["reason"]
    assert sum(document["dataset"]["used"][split] for split in ("fit", "score")) == 15
    assert document["scores"][0]["scores"].keys() >= {"nmi", "keypoint_regression"}
    assert json.loads((out / "results.json").read_text()) == document


def test_results_are_never_replaced_silently(run_eval, coco_root, tmp_path):
    arguments = ("coco-parts", coco_root, "--parts", 2, "--seeds", 1, "--limit", 2)
    assert run_eval(*arguments, "--out", tmp_path).code == 0
    before = (tmp_path / "results.json").read_bytes()
    assert "--overwrite" in error_of(run_eval(*arguments, "--out", tmp_path))
    assert (tmp_path / "results.json").read_bytes() == before
    assert run_eval(*arguments, "--limit", 3, "--out", tmp_path, "--overwrite").code == 0
    assert (tmp_path / "results.json").read_bytes() != before


@pytest.mark.parametrize("option", ["--out", "--cache"])
@pytest.mark.parametrize("folder", ["", "images", "images/new"])
def test_a_data_set_is_only_read(partdino, coco_root, tmp_path, option, folder):
    before = sorted(coco_root.rglob("*"))
    (tmp_path / "link").symlink_to(coco_root)
    for place in (coco_root / folder, tmp_path / "link" / folder):
        message = error_of(partdino("eval", "coco-parts", coco_root, option, place))
        assert f"{place} is inside {coco_root}" in message and option in message
    labels = ("--labels", coco_root / "annotations", option, coco_root / "annotations")
    assert "is inside" in error_of(partdino("eval", "coco-parts", tmp_path, *labels))
    study = ("study", "boundary", coco_root, "--benchmark", "coco-parts", "-o", tmp_path / "out")
    assert "is inside" in error_of(partdino(*study, option, coco_root / folder))
    assert sorted(coco_root.rglob("*")) == before and not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["results.json", "results.csv", "results.md"])
def test_results_of_somebody_else_are_never_replaced(run_eval, coco_root, tmp_path, name):
    (tmp_path / name).write_text('# Mine\n\nimage,"benchmark": 1')
    before = (tmp_path / name).read_bytes()
    for more in ((), ("--overwrite",)):
        message = error_of(run_eval("coco-parts", coco_root, "--out", tmp_path, *more))
        assert str(tmp_path / name) in message
        assert [(tmp_path / name).read_bytes()] == [f.read_bytes() for f in tmp_path.iterdir()]
    assert (tmp_path / name).read_bytes() == before


@pytest.mark.parametrize("option", ["--out", "--cache"])
def test_an_unwritable_folder_is_found_first(run_eval, coco_root, tmp_path, option):
    (tmp_path / "file").write_text("")
    message = error_of(run_eval("coco-parts", coco_root, option, tmp_path / "file" / "folder"))
    assert f"another {option}" in message
