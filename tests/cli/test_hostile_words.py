"""Addresses as outputs, empty arguments, yes and no as numbers, formulas and escapes in names."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from partdino.cli.console import Reporter
from partdino.errors import ConfigError
from partdino.files import csv_safe, write_csv
from partdino.options import read_config, validate


@pytest.mark.parametrize(
    "out", ["s3://bucket/out", "gs://bucket/out", "file:///tmp/x", "http://a/b"]
)
@pytest.mark.parametrize("command", ["segment", "features", "label", "merge", "fit", "synth"])
def test_no_output_is_an_address(partdino, tmp_path, monkeypatch, photo_folder, command, out):
    monkeypatch.chdir(tmp_path)
    arguments = {
        "segment": (photo_folder, "--out", out, "--backbone", "efficientnet-lite2"),
        "features": (photo_folder, "--out", out, "--backbone", "efficientnet-lite2"),
        "label": ("store", "--model", "m.safetensors", "--out", out),
        "merge": (out, "a", "b"),
        "fit": ("store", "--parts", 3, "--out", f"{out}/m.safetensors"),
        "synth": (out, "--layout", "photos", "--images", 1),
    }
    result = partdino(command, *arguments[command])
    assert result.code == 2 and "Traceback" not in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [("segment", "", "--out", "x"), ("fit", "a", "--out", "")])
def test_an_empty_argument_is_not_the_current_folder(partdino, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    result = partdino(*arguments)
    assert result.code == 2 and "is empty" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["parts", "seed", "workers", "region_size", "batch_size"])
@pytest.mark.parametrize("value", [True, False])
def test_yes_and_no_are_no_numbers(name, value):
    with pytest.raises(ConfigError, match=f"{name} is (true|false)"):
        validate({name: value})


@pytest.mark.parametrize(
    "text", ["parts: 4\nparts: 5\n", "numbers: {reach: 1, reach: 2}\n", "parts: 4\n'parts': 4\n"]
)
def test_a_key_that_is_there_twice_is_refused(tmp_path, text):
    (tmp_path / "c.yaml").write_text(text)
    with pytest.raises(ConfigError, match="is there twice"):
        read_config(tmp_path / "c.yaml")


@pytest.mark.parametrize("name", ["=HYPERLINK(1).jpg", "+1.jpg", "-a.jpg", "@x.jpg", "\ta.jpg"])
def test_names_are_no_formulas(tmp_path, name):
    write_csv(tmp_path / "t.csv", ["file", "number"], [(name, "-1.5")])
    with (tmp_path / "t.csv").open(newline="") as stream:
        assert list(csv.reader(stream))[1] == [f"'{name}", "-1.5"]
    assert csv_safe("a=b.jpg") == "a=b.jpg"


def test_the_table_of_parts_holds_no_formula(partdino, tmp_path, photo_folder):
    photo = tmp_path / "=1+1.jpg"
    photo.write_bytes((photo_folder / "animal_0000.jpg").read_bytes())
    out = tmp_path / "out"
    options = ("--parts", 2, "--backbone", "efficientnet-lite2", "--boundaries", "none")
    assert partdino("segment", photo, "--out", out, *options, "--workers", 0).code == 0
    rows = (out / "parts.csv").read_text().splitlines()[1:]
    assert rows and all(row.startswith("'=1+1.jpg,") for row in rows)


def test_names_do_not_reach_a_terminal_with_their_escapes(capsys):
    Reporter().warn(f"{Path('a' + chr(27) + '[2Jb')}: bad\x07 \u202etxt.exe")
    said = capsys.readouterr().err
    assert "\x1b" not in said.replace("\\x1b", "") and "\\x1b[2Jb" in said
    assert "\\x07" in said and "\\u202e" in said
