"""Corrected masks, other numbers, changed code and files of version 0.1 meet stores and models."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from PIL import Image

from partdino.runs.store import open_stores


def result_files(out):
    """Return what may not depend on who wrote it: label maps and tables."""
    names = [*sorted((out / "labels").rglob("*.png")), out / "parts.csv", out / "coco.json"]
    return {str(name.relative_to(out)): name.read_bytes() for name in names}


@pytest.fixture
def old_store(store, tmp_path):
    """The store as Part-DINO 0.1 wrote it."""
    shutil.copytree(store, tmp_path / "old")
    file = tmp_path / "old" / "store.json"
    header = json.loads(file.read_text())
    assert header.pop("numbers") and header.pop("code_sha256")
    file.write_text(json.dumps({**header, "schema": 1, "version": "0.1.0"}))
    return tmp_path / "old"


def test_a_store_of_version_0_1_is_fitted_and_labelled(old_store, store, fit, label, tmp_path):
    for name, made in (("old", old_store), ("new", store)):
        assert fit(tmp_path / f"{name}.safetensors", made).code == 0
        model = tmp_path / f"{name}.safetensors"
        assert label(tmp_path / f"out-{name}", made, model=model).code == 0
    assert result_files(tmp_path / "out-old") == result_files(tmp_path / "out-new")


def test_a_store_of_version_0_1_is_not_mixed_with_new_descriptions(old_store, features):
    result = features(old_store, "--resume")
    assert result.code == 2
    assert "begun with another state of Part-DINO's code" in result.stderr
    assert "--overwrite" in result.stderr


def test_changed_code_does_not_go_on_with_old_descriptions(store, features, tmp_path, monkeypatch):
    shutil.copytree(store, tmp_path / "store")
    monkeypatch.setattr("partdino.runs.store.header.describing_code_sha256", lambda _: "changed")
    result = features(tmp_path / "store", "--resume")
    assert result.code == 2 and "another state of Part-DINO's code" in result.stderr


def test_a_corrected_mask_is_described_anew_and_no_other(features, photo_folder, tmp_path):
    masks = tmp_path / "masks"
    masks.mkdir()
    for photo in photo_folder.glob("*.jpg"):
        size = Image.open(photo).size[::-1]
        mask = np.zeros(size, np.uint8)
        mask[size[0] // 4 :, size[1] // 4 :] = 255
        Image.fromarray(mask).save(masks / f"{photo.stem}.png")
    out = tmp_path / "store"
    assert features(out, masks=masks).code == 0
    before = {image.name: image for image in open_stores([out]).images}
    inside = {name: image.read().inside for name, image in before.items()}
    corrected = min(before)
    size = Image.open(photo_folder / corrected).size
    Image.new("L", size, 255).save(masks / corrected.replace(".jpg", ".png"))
    result = features(out, "--resume", masks=masks)
    assert result.code == 0 and "7 images are described already" in result.stderr
    assert "1 images have changed, or their masks" in result.stderr
    for image in open_stores([out]).images:
        same = image.name != corrected
        assert (image.key == before[image.name].key) == same
        assert np.array_equal(image.read().inside, inside[image.name]) == same
    assert open_stores([out]).images[0].read().inside.all()


def test_numbers_of_a_file_reach_the_features_and_the_fit(features, fit, label, tmp_path):
    config = tmp_path / "numbers.yaml"
    config.write_text("numbers: {lattice: 16, reach: 0, centring: 0.5}\n")
    out = tmp_path / "store"
    assert features(out, "--config", config).code == 0
    header = json.loads((out / "store.json").read_text())
    assert header["numbers"]["lattice"] == 16 and "reach" not in header["numbers"]
    model = tmp_path / "m.safetensors"
    assert fit(model, out, more=("--config", config)).code == 0
    assert label(tmp_path / "out", out, model=model).code == 0
    numbers = json.loads((tmp_path / "out" / "run.json").read_text())["numbers"]
    assert (numbers["lattice"], numbers["reach"], numbers["centring"]) == (16, 0, 0.5)
    assert "numbers:" in (tmp_path / "out" / "config.yaml").read_text()


def test_features_keep_their_numbers(store, fit, tmp_path):
    config = tmp_path / "numbers.yaml"
    config.write_text("numbers: {lattice: 16}\n")
    result = fit(tmp_path / "m.safetensors", store, more=("--config", config))
    assert result.code == 2 and "numbers.lattice is 16" in result.stderr


def test_a_model_labels_features_of_its_numbers_alone(store, features, fit, label, tmp_path):
    config = tmp_path / "numbers.yaml"
    config.write_text("numbers: {lattice: 16}\n")
    assert features(tmp_path / "store", "--config", config).code == 0
    assert fit(tmp_path / "m.safetensors", tmp_path / "store").code == 0
    result = label(tmp_path / "out", store, model=tmp_path / "m.safetensors")
    assert result.code == 2 and "numbers" in result.stderr
