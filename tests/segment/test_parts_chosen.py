"""`--parts auto` and `--parts 4-16`: the number of parts is chosen, and everything follows it."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image
from segment_runs import SMALL, files, label_bytes, label_map, table, unfinish

from partdino import PartDiscovery
from partdino.parts import part_number

CURVE = ["parts_curve.csv", "parts_curve.png", "parts_curve.svg"]
ASKED, NUMBERS = "3-5", [3, 4, 5]


@pytest.fixture(scope="module", autouse=True)
def one_halving():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(part_number, "REPEATS", 2)
        yield


@pytest.fixture(scope="module")
def chosen_run(segment, photo_folder, tmp_path_factory) -> Path:
    """The output folder of eight photos with a range of numbers; to be read only."""
    out = tmp_path_factory.mktemp("chosen") / "out"
    result = segment(photo_folder, out, parts=ASKED)
    assert result.code == 0, result.stderr
    assert f"the best of {ASKED}" in result.stdout + result.stderr
    return out


@pytest.fixture(scope="module")
def chosen(chosen_run) -> int:
    return json.loads((chosen_run / "run.json").read_text())["parts"]["chosen"]


def test_the_run_says_what_was_asked_and_what_was_chosen(chosen_run, chosen):
    run = json.loads((chosen_run / "run.json").read_text())
    assert 0 <= run["parts"].pop("steadiness") <= 1
    assert run["parts"] == {"asked": ASKED, "chosen": chosen, "found": chosen}
    assert chosen in NUMBERS
    assert run["options"]["parts"] == chosen
    assert yaml.safe_load((chosen_run / "config.yaml").read_text())["parts"] == chosen


def test_the_table_shows_why(chosen_run, chosen):
    rows = table(chosen_run / "parts_curve.csv")
    assert [int(row["parts"]) for row in rows] == NUMBERS
    assert [int(row["parts"]) for row in rows if row["chosen"] == "1"] == [chosen]
    scores = [float(row["score"]) for row in rows]
    assert scores.index(max(scores)) == NUMBERS.index(chosen)
    for row, score in zip(rows, scores, strict=True):
        agreement, chance = float(row["agreement"]), float(row["chance"])
        assert (agreement - chance) / (1 - chance) == pytest.approx(score, abs=1e-3)


def test_the_plot_is_a_picture_and_a_drawing(chosen_run):
    image = Image.open(chosen_run / "parts_curve.png")
    assert image.width > image.height > 600
    assert len(np.unique(np.asarray(image.convert("L")))) > 20
    assert ET.parse(chosen_run / "parts_curve.svg").getroot().tag.endswith("svg")


def test_labels_are_those_of_a_run_that_is_told_the_number(
    segment, chosen_run, chosen, photo_folder, tmp_path
):
    assert segment(photo_folder, tmp_path / "told", parts=chosen).code == 0
    assert label_bytes(tmp_path / "told") == label_bytes(chosen_run)
    model = "parts.safetensors"
    assert (tmp_path / "told" / model).read_bytes() == (chosen_run / model).read_bytes()
    assert sorted([*files(tmp_path / "told"), *CURVE]) == files(chosen_run)
    parts = np.unique([label_map(chosen_run, path.name).max() for path in photo_folder.iterdir()])
    assert parts.max() == chosen
    assert json.loads((tmp_path / "told" / "run.json").read_text())["parts"]["asked"] == chosen


def test_resuming_gives_the_same(segment, chosen_run, photo_folder, tmp_path):
    out = tmp_path / "out"
    assert segment(photo_folder, out, parts=ASKED).code == 0
    unfinish(out)
    (out / "parts_curve.png").write_text("half a picture")
    refused = segment(photo_folder, out, "--resume", parts="3-4")
    assert refused.code == 2 and "another parts ('3-5', now '3-4')" in refused.stderr
    assert segment(photo_folder, out, "--resume", parts=ASKED).code == 0
    assert label_bytes(out) == label_bytes(chosen_run)
    for name in CURVE:
        assert (out / name).read_bytes() == (chosen_run / name).read_bytes()


@pytest.mark.parametrize("mine", [False, True])
def test_a_run_with_a_number_clears_the_curve_of_a_run(
    segment, chosen_run, photo_folder, tmp_path, mine
):
    photo = sorted(photo_folder.iterdir())[0]
    out = tmp_path / "out"
    assert segment(photo, out, parts=3).code == 0
    for name in CURVE:
        shutil.copy(chosen_run / name, out / name)
        if mine:
            (out / name).write_text("of somebody else")
    assert segment(photo, out, "--overwrite", parts=3).code == 0
    assert set(CURVE) & set(files(out)) == (set(CURVE) if mine else set())


def test_a_chosen_model_labels_more_photos(partdino, chosen_run, chosen, photo_folder, tmp_path):
    model = ("--model", chosen_run / "parts.safetensors")
    result = partdino("segment", photo_folder, "--out", tmp_path, *model, "--parts", "auto")
    assert result.code == 0, result.stderr
    assert label_bytes(tmp_path) == label_bytes(chosen_run)
    assert not set(CURVE) & set(files(tmp_path))


def test_too_few_photos_are_said_in_one_line(segment, photo_folder, tmp_path):
    photo = sorted(photo_folder.iterdir())[0]
    result = segment(photo, tmp_path / "out", parts="auto")
    assert result.code == 2
    assert result.stderr.splitlines()[-1].endswith("name the number, as in --parts 8")


def test_an_evaluation_takes_numbers_only(partdino, tmp_path):
    result = partdino("eval", "cub", tmp_path, "--parts", "auto")
    assert result.code == 2 and "should be a valid integer" in result.stderr
    (tmp_path / "preset.yaml").write_text("parts: 4-16\n")
    result = partdino("eval", "cub", tmp_path, "--config", tmp_path / "preset.yaml")
    assert result.code == 2 and "parts is '4-16'" in result.stderr


def test_the_estimator_chooses_alike(chosen_run, chosen, photo_folder, tmp_path):
    discovery = PartDiscovery(**{**SMALL, "parts": ASKED})
    results = discovery.fit_predict(photo_folder)
    assert discovery.parts == ASKED  # a parameter is only stored
    assert discovery.n_parts_ == discovery.options_.parts == chosen
    assert discovery.parts_curve_.best == chosen
    for result in results:
        np.testing.assert_array_equal(result.label_map, label_map(chosen_run, result.name))
    discovery.save(tmp_path / "model.safetensors")
    loaded = PartDiscovery.load(tmp_path / "model.safetensors")
    assert (loaded.parts, loaded.n_parts_, loaded.parts_curve_) == (chosen, chosen, None)
