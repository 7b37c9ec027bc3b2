"""How the options of `partdino eval` are written, and its presets."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from partdino.cli.spread import one_flag_a_value
from partdino.describe.features.registry import EMBEDDED, SHORT_NAMES
from partdino.errors import ConfigError
from partdino.evaluation.benchmarks import BENCHMARKS
from partdino.evaluation.eval_options import validate_evaluation
from partdino.options import Options, read_config, validate

CONFIGS = Path(__file__).parents[2] / "configs"
PRESETS = sorted(set(CONFIGS.glob("*.yaml")) - {CONFIGS / "segment.yaml"})
FLAGS = {"--parts": str.isdigit, "-k": str.isdigit, "--method": {"patch", "all"}.__contains__}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("--parts 4 8 16 ROOT", "--parts 4 --parts 8 --parts 16 ROOT"),
        ("ROOT --parts 4,8 16 --seeds 3", "ROOT --parts 4 --parts 8 --parts 16 --seeds 3"),
        ("--parts=4,8 ROOT 9", "--parts 4 --parts 8 ROOT 9"),
        ("-k 4 -k 8 --limit 10", "-k 4 -k 8 --limit 10"),
        ("--method patch all ROOT", "--method patch --method all ROOT"),
        ("--method patch,wrong", "--method patch --method wrong"),
        ("ROOT --parts", "ROOT --parts"),
        ("--seeds 3 ROOT", "--seeds 3 ROOT"),
    ],
)
def test_several_values_after_one_flag(written, meant):
    assert list(one_flag_a_value(written.split(), FLAGS)) == meant.split()


def test_all_spellings_are_the_same_run(evaluate, coco_root):
    def variants(*spelling):
        options = ("--seeds", 1, "--limit", 2)
        document = evaluate("coco-parts", coco_root, *spelling, *options)
        return [(row["method"], row["parts"]) for row in document["scores"]]

    expected = [("patch", 2), ("patch", 3), ("position", 2), ("position", 3)]
    assert variants("--parts", 2, 3, "--method", "position", "patch") == expected
    assert variants("-k2", "-k", 3, "--method=patch,position") == expected


def test_a_file_gives_what_the_command_line_does_not(evaluate, coco_root, tmp_path):
    config = tmp_path / "preset.yaml"
    config.write_text("parts: 3\nseeds: 1\nmethod: position\nlimit: 2\neval_size: 64\n")
    document = evaluate("coco-parts", coco_root, "--config", config, "--eval-size", 32)
    assert [(row["method"], row["parts"]) for row in document["scores"]] == [("position", 3)]
    assert document["protocol"]["eval_size"] == 32 and document["protocol"]["limit"] == 2


@pytest.mark.parametrize("values", [{"pars": [4]}, {"seed": 3}, {"parts": ["x"]}, {"seeds": 0}])
def test_a_file_with_mistakes_is_refused(values):
    with pytest.raises(ConfigError, match=r"preset.yaml: .*" + next(iter(values))):
        validate_evaluation(values, "preset.yaml")


def test_the_file_of_segment_holds_its_defaults():
    path = CONFIGS / "segment.yaml"
    assert validate(read_config(path), str(path)) == Options()


@pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.stem)
def test_presets_hold_the_sizes_and_numbers_of_parts_of_the_papers(path):
    benchmark = BENCHMARKS[path.stem.replace("_", "-")]
    evaluation, method = validate_evaluation(read_config(path), str(path))
    assert tuple(evaluation.parts) == benchmark.parts
    size = evaluation.size if benchmark.kind == "keypoints" else evaluation.eval_size
    assert size == benchmark.sizes[0]
    assert method.backbone == "auto"


@pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.stem)
def test_presets_offer_backbones_that_exist(path):
    lines = [line[2:] for line in path.read_text().splitlines() if line.startswith("# backbone: ")]
    names = {yaml.safe_load(line)["backbone"] for line in lines}
    assert names <= {*SHORT_NAMES, EMBEDDED}
    assert {name.split("-")[0] for name in names} == {"dino", "dinov2", "dinov3", "efficientnet"}


def test_a_preset_runs(evaluate, cub_root):
    preset = ("--config", CONFIGS / "cub.yaml")
    document = evaluate("cub", cub_root, *preset, "--limit", 2, "--seeds", 1, "--parts", 2)
    assert [row["method"] for row in document["scores"]] == ["partdino", "patch", "position"]


@pytest.mark.parametrize("command", ["", "cub", "celeba", "coco-parts", "partimagenet-ood"])
def test_help_fits_and_says_what_applies(partdino, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    finished = partdino("eval", *command.split(), "--help")
    assert finished.code == 0
    assert max(map(len, finished.stdout.splitlines())) <= 80
    assert ("--aligned" in finished.stdout) == (command == "celeba")
    assert ("--split-file" in finished.stdout) == (command in ("", "partimagenet-ood"))


def test_help_needs_none_of_the_slow_libraries():
    slow = "{'torch', 'timm', 'cv2', 'skimage', 'sklearn', 'scipy', 'pydantic'}"
    code = f"import sys, partdino.cli.main; print({slow} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
