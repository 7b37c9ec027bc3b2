"""`parts.safetensors`: the same parts on other photos, and never silently other ones."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image
from safetensors import safe_open
from safetensors.numpy import save_file
from segment_runs import PARTS, SMALL, files, label_bytes, label_map, unfinish

from partdino.evaluation.synth import write_layout


@pytest.fixture(scope="module")
def model(finished_run) -> Path:
    return finished_run / "parts.safetensors"


@pytest.fixture(scope="module")
def label(partdino, model, photo_folder):
    """Run ``partdino segment PHOTOS --model MODEL``, of the fitted photos where not told else."""

    def run(out: Path, *more: object, photos: Path = photo_folder, model: Path = model):
        return partdino("segment", photos, "--out", out, "--model", model, *more)

    return run


def altered(model: Path, path: Path, change) -> Path:
    """Copy a model with its metadata and tensors changed."""
    with safe_open(model, framework="numpy") as file:
        document = json.loads(file.metadata()["partdino"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    change(document, tensors)
    save_file(tensors, path, {"partdino": json.dumps(document)})
    return path


def test_the_photos_it_was_fitted_on_get_the_same_labels(label, model, finished_run, tmp_path):
    assert label(tmp_path).code == 0
    assert label_bytes(tmp_path) == label_bytes(finished_run)
    assert files(tmp_path) == files(finished_run)
    assert (tmp_path / "coco.json").read_bytes() == (finished_run / "coco.json").read_bytes()
    assert (tmp_path / "parts.safetensors").read_bytes() == model.read_bytes()
    run = json.loads((tmp_path / "run.json").read_text())
    assert run["model"] == str(model)
    assert "fit" not in run["seconds"]


def test_each_photo_alone_gets_the_same_labels(label, finished_run, photo_folder, tmp_path):
    name = "animal_0003.jpg"
    assert label(tmp_path, photos=photo_folder / name).code == 0
    assert label_bytes(tmp_path) == {name: label_bytes(finished_run)[name]}


def test_new_photos_are_labelled(label, tmp_path):
    write_layout("photos", tmp_path / "new", images=4, seed=7, size=160)
    assert label(tmp_path / "out", photos=tmp_path / "new" / "images").code == 0
    overlap = []
    for truth in (tmp_path / "new" / "labels").iterdir():
        found = label_map(tmp_path / "out", f"{truth.stem}.jpg") > 0
        animal = np.asarray(Image.open(truth)) > 0
        overlap.append((found & animal).sum() / (found | animal).sum())
    assert np.mean(overlap) > 0.4  # 0.61 as written


def test_what_the_model_holds_may_be_repeated(label, finished_run, tmp_path):
    for index, more in enumerate(
        (
            ["--parts", PARTS, "--backbone", "efficientnet-lite2", "--regions", "auto"],
            ["--config", finished_run / "config.yaml"],
        )
    ):
        assert label(tmp_path / f"{index}", *more).code == 0
        assert label_bytes(tmp_path / f"{index}") == label_bytes(finished_run)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--backbone", "dinov2-s14"),
        ("--parts", "5"),
        ("--image-size", "256"),
        ("--seed", "3"),
        ("--foreground", "none"),
    ],
)
def test_other_options_are_refused(label, model, tmp_path, option, value):
    result = label(tmp_path / "out", option, value)
    assert (result.code, result.stderr.count("\n")) == (2, 1)
    assert str(model) in result.stderr and value in result.stderr
    assert option[2:].replace("-", "_") in result.stderr
    assert not (tmp_path / "out").exists()


def test_other_weights_are_refused(label, model, tmp_path):
    def change(document, tensors):
        document["weights_sha256"] = "0" * 64

    result = label(tmp_path / "out", model=altered(model, tmp_path / "other.safetensors", change))
    assert result.code == 2
    assert "other weights of efficientnet-lite2" in result.stderr.splitlines()[-1]
    assert "000000000000" in result.stderr
    assert not (tmp_path / "out" / "labels").exists()


def test_files_that_are_no_models(label, model, tmp_path):
    content = model.read_bytes()
    bad = {
        "empty.safetensors": b"",
        "text.safetensors": b"dear diary, this is no model",
        "half.safetensors": content[: len(content) // 2],
    }
    for name, data in bad.items():
        (tmp_path / name).write_bytes(data)
    save_file({"a": np.zeros(3)}, tmp_path / "foreign.safetensors")
    (tmp_path / "folder.safetensors").mkdir()
    for name in (*bad, "foreign.safetensors", "folder.safetensors", "missing.safetensors"):
        result = label(tmp_path / "out", model=tmp_path / name)
        assert (result.code, result.stderr.count("\n")) == (2, 1), result.stderr
        assert str(tmp_path / name) in result.stderr
        assert "unexpected" not in result.stderr


@pytest.mark.parametrize(
    "change",
    [
        lambda document, tensors: document.pop("options"),
        lambda document, tensors: document.pop("weights_sha256"),
        lambda document, tensors: tensors.pop("centroids"),
        lambda document, tensors: document.update(format=99),
        lambda document, tensors: document["options"].update(parts=0),
        lambda document, tensors: document["options"].update(novelty=1),
    ],
)
def test_models_with_something_missing_or_odd(label, model, tmp_path, change):
    odd = altered(model, tmp_path / "odd.safetensors", change)
    result = label(tmp_path / "out", model=odd)
    assert (result.code, result.stderr.count("\n")) == (2, 1), result.stderr
    assert str(odd) in result.stderr and "unexpected" not in result.stderr


def test_a_model_fitted_with_masks_labels_with_masks(
    segment, label, photo_folder, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    masks = Path("masks")
    shutil.copytree(photo_folder.parent / "labels", masks)
    fitted, again = tmp_path / "fitted", tmp_path / "again"
    assert segment(photo_folder, fitted, foreground="masks", masks=masks).code == 0
    assert yaml.safe_load((fitted / "config.yaml").read_text())["masks"] == str(tmp_path / masks)
    model = fitted / "parts.safetensors"
    assert label(again, "--masks", masks, model=model).code == 0
    assert label_bytes(again) == label_bytes(fitted)
    result = label(tmp_path / "without", model=model)
    assert (result.code, result.stderr.count("\n")) == (2, 1)
    assert "--masks" in result.stderr


def test_resume_with_another_model_is_refused(segment, label, photo_folder, model, tmp_path):
    assert label(tmp_path / "out", photos=photo_folder / "animal_0000.jpg").code == 0
    unfinish(tmp_path / "out")
    assert segment(photo_folder, tmp_path / "fit", seed=5).code == 0
    other = altered(model, tmp_path / "other.safetensors", lambda d, t: d.update(version="?"))
    result = label(tmp_path / "out", "--resume", model=other)
    assert result.code == 2 and "begun with another model;" in result.stderr


def test_small_options_are_what_the_model_was_fitted_with(model):
    with safe_open(model, framework="numpy") as file:
        method = {name: value for name, value in SMALL.items() if name != "workers"}
        assert method.items() <= json.loads(file.metadata()["partdino"])["options"].items()
