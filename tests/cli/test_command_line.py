"""The command line: quick help, options in order, one line for what is wrong."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from partdino.errors import ConfigError, PartDinoError, Stopped
from partdino.method import Method
from partdino.options import OPTION_NAMES, read_config, validate
from partdino.runs import segment as segmentation
from partdino.version import __version__

COMMAND = "from partdino.cli.main import main; main()"


def in_process(*arguments: str, code: str = COMMAND, **environment: str):
    command = [sys.executable, "-c", code, *arguments]
    env = {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, text=True, env=env)


def test_help_is_quick():
    code = (
        "import atexit, sys\n"
        "heavy = {'torch', 'timm', 'cv2', 'skimage', 'sklearn', 'scipy', 'numpy', 'matplotlib'}\n"
        "atexit.register(lambda: print('LOADED', *sorted(heavy & set(sys.modules))))\n"
    )
    for arguments in (
        ["--help"],
        ["segment", "--help"],
        ["export", "--help"],
        ["study", "boundary", "--help"],
    ):
        result = in_process(*arguments, code=code + COMMAND)
        assert result.returncode == 0
        assert result.stdout.splitlines()[-1] == "LOADED"


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["segment"],
        ["eval"],
        ["study", "boundary"],
        ["weights"],
        ["synth"],
        ["export"],
        ["info"],
    ],
)
def test_help_reads_at_80_columns(partdino, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    result = partdino(*command, "--help")
    assert result.code == 0
    lines = result.stdout.splitlines()
    assert len(lines) > 3
    assert max(map(len, lines)) <= 80
    assert "…" not in result.stdout  # nothing cut off


def test_help_names_every_option(partdino, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    text = partdino("segment", "--help").stdout
    for name in OPTION_NAMES:
        assert f"--{name.replace('_', '-')}" in text
    for flag in ("--out", "--config", "--model", "--overwrite", "--resume", "--quiet", "--json"):
        assert flag in text


def test_no_arguments_show_the_help(partdino):
    assert "segment" in partdino().stdout


def test_version(partdino):
    result = partdino("--version")
    assert (result.code, result.stdout) == (0, f"partdino {__version__}\n")


def test_the_package_is_a_command():
    command = [sys.executable, "-m", "partdino", "--version"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (0, f"partdino {__version__}\n")


def test_a_path_through_every_option(given):
    values = {
        "parts": "4-16",
        "seed": 5,
        "foreground": "masks",
        "masks": Path("m"),
        "hints": Path("h.csv"),
        "backbone": "dino-s8",
        "weights": Path("w.pth"),
        "layer": -2,
        "facet": "key",
        "image_size": 320,
        "stride": 4,
        "boundaries": "gradient",
        "symmetry": "apart",
        "regions": "slic",
        "region_scale": 0.5,
        "min_region": 7,
        "region_size": 99,
        "fit_on": "all",
        "foreground_threshold": 0.25,
        "device": "cuda:1",
        "precision": "bf16",
        "batch_size": 2,
        "workers": 3,
        "engine": "ray",
    }
    assert set(values) == set(OPTION_NAMES)
    pairs = [(f"--{name.replace('_', '-')}", value) for name, value in values.items()]
    asked = given(*(text for pair in pairs for text in pair))
    # A number or a word is text until it is checked.
    assert asked == {**values, "batch_size": "2", "workers": "3"}
    del asked["hints"]  # it does not go with masks
    assert vars(validate(asked)) == {**values, "hints": None, "numbers": Method()}


def test_the_command_line_goes_over_the_file_over_the_defaults(given, tmp_path):
    config = tmp_path / "mine.yaml"
    config.write_text("parts: 5\nregion-size: 200  # either spelling\nimage_size: 300\n")
    values = given("--config", config, "-k", 6, "--seed", 0)
    assert values == {"parts": "6", "seed": 0, "region_size": 200, "image_size": 300}
    options = validate(values)
    assert (options.parts, options.region_size, options.min_region) == (6, 200, 30)
    assert given() == {}


@pytest.mark.parametrize("text", ["", "# nothing yet\n"])
def test_an_empty_file_is_a_configuration(given, tmp_path, text):
    (tmp_path / "empty.yaml").write_text(text)
    assert given("--config", tmp_path / "empty.yaml") == {}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("partz: 5", "unknown option 'partz'"),
        ("out: there", "unknown option 'out'"),
        ("parts: many", "parts is 'many': pass a number from 1 to 255, auto, or a range"),
        ("parts: 9-4", "parts is '9-4'"),
        ("parts: 1-4", "parts is '1-4'"),
        ("parts: 4-4", "parts is '4-4'"),
        ("parts: 4-256", "parts is '4-256'"),
        ("parts: 4-8-9", "parts is '4-8-9'"),
        ("parts: 4..8", "parts is '4..8'"),
        ("parts: AUTO", "parts is 'AUTO'"),
        ("parts: 0", "parts is 0: pass a number from 1 to 255, auto, or a range"),
        ("parts: 256", "parts is 256"),
        ("parts: [1, 2]", r"parts is \[1, 2\]"),
        ("parts: null", "parts is None"),
        ("layer: 1.5", "layer is 1.5"),
        ("facet: colour", "facet is 'colour'"),
        ("region_scale: -1", "region_scale is -1"),
        ("masks: here\nforeground: none", "--foreground masks and --masks DIR go together"),
        ("- parts", "must hold lines such as 'parts: 8'"),
        ("8", "must hold lines such as 'parts: 8'"),
        ("parts: [", r"is not valid YAML: .* \(line 1\)"),
        ("parts: 2024-99-99", "is not valid YAML"),
        ("parts: \t5", "is not valid YAML"),
        ("parts: !!python/object:os.system 5", "is not valid YAML"),
        (b"\xff\xfe\x00", "is not valid YAML"),
    ],
)
def test_bad_configurations_are_one_line(text, reason, partdino, tmp_path):
    config = tmp_path / "bad.yaml"
    config.write_bytes(text if isinstance(text, bytes) else text.encode())
    result = partdino("segment", tmp_path, "--out", tmp_path / "out", "--config", config)
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: ") and result.stderr.count("\n") == 1
    assert re.search(reason, result.stderr), result.stderr
    assert not (tmp_path / "out").exists()


def test_a_bad_configuration_is_named(tmp_path):
    for name in ("missing.yaml", "folder"):
        (tmp_path / "folder").mkdir(exist_ok=True)
        with pytest.raises(ConfigError, match=f"cannot read .*{name}"):
            read_config(tmp_path / name)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--parts", "0"], "parts is '0': pass a number"),
        (["--parts", "many"], "parts is 'many': pass a number"),
        (["--facet", "colour"], "--facet"),
        (["--region-size", "63"], "--region-size"),
        (["--novelty", "1"], "--novelty"),
        (["--out"], "--out"),
    ],
)
def test_bad_options_say_which(partdino, tmp_path, arguments, reason):
    result = partdino("segment", tmp_path, "--out", tmp_path / "out", *arguments)
    assert result.code == 2 and reason in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("missing", [["segment"], ["segment", "photos"], ["novelty"]])
def test_missing_arguments_are_usage_errors(partdino, missing):
    result = partdino(*missing)
    assert result.code == 2 and "Usage" in result.stderr


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (PartDinoError("no such\nluck"), 2, "error: no such luck\n"),
        (Stopped(signal.SIGINT), 130, "error: interrupted\n"),
        (Stopped(signal.SIGTERM, "1 of 2"), 143, "error: interrupted: 1 of 2\n"),
    ],
)
def test_what_ends_a_run_is_one_line(partdino, monkeypatch, tmp_path, error, code, said):
    def fail(*arguments):
        raise error

    monkeypatch.setattr(segmentation, "segment", fail)
    result = partdino("segment", tmp_path, "--out", tmp_path / "out")
    assert (result.code, result.stdout, result.stderr) == (code, "", said)


def test_a_defect_is_one_line_that_can_be_reported(partdino, monkeypatch, tmp_path):
    def fail(*arguments):
        raise RuntimeError("two\nlines")

    monkeypatch.setattr(segmentation, "segment", fail)
    result = partdino("segment", tmp_path, "--out", tmp_path / "out")
    assert (result.code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert result.stderr.startswith("error: unexpected RuntimeError: two lines")
    assert Path(__file__).name in result.stderr and "partdino info" in result.stderr


def finished(**counts: int):
    total = {"images": 3, "labelled": 3, "failed": 0, "without_foreground": 0, **counts}
    return lambda *arguments: {"counts": total, "seconds_total": 1.0, "name": "Vögel \udce9"}


@pytest.mark.parametrize(("counts", "code"), [({}, 0), ({"labelled": 1, "failed": 2}, 1)])
def test_exit_code_and_summary_count_failures(partdino, monkeypatch, tmp_path, counts, code):
    monkeypatch.setattr(segmentation, "segment", finished(**counts))
    out = tmp_path / "out"
    result = partdino("segment", tmp_path, "--out", out)
    assert (result.code, result.stdout) == (code, "")
    assert f"{3 - 2 * code} of 3 images labelled" in result.stderr
    assert (f"warning: 2 images failed; see {out / 'failures.csv'}" in result.stderr) == (code == 1)


def test_quiet_leaves_warnings_alone(partdino, monkeypatch, tmp_path):
    arguments = ("segment", tmp_path, "--out", tmp_path / "out", "--quiet")
    monkeypatch.setattr(segmentation, "segment", finished())
    assert partdino(*arguments).stderr == ""
    monkeypatch.setattr(segmentation, "segment", finished(failed=1))
    assert partdino(*arguments).stderr.splitlines() == [
        f"warning: 1 images failed; see {tmp_path / 'out' / 'failures.csv'}"
    ]


def test_json_is_all_that_stdout_holds(partdino, monkeypatch, tmp_path):
    monkeypatch.setattr(segmentation, "segment", finished())
    result = partdino("segment", tmp_path, "--out", tmp_path / "out", "--json")
    document = json.loads(result.stdout)
    assert document["counts"]["images"] == 3 and document["name"] == "Vögel \udce9"
    assert result.stdout.isascii()  # for whatever terminal or pipe
    assert "images labelled" in result.stderr
