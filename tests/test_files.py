"""Atomic output: complete or absent, with ordinary permissions and one-line errors."""

from __future__ import annotations

import json
import os

import pytest

from partdino.errors import OutputError
from partdino.files import atomic_path, is_safe_name, write_csv, write_json, write_text


def test_makes_parents_and_leaves_nothing_else(tmp_path):
    write_text(tmp_path / "a" / "b" / "é.txt", "ä\n")
    assert (tmp_path / "a" / "b" / "é.txt").read_bytes() == "ä\n".encode()
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == ["é.txt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failure_keeps_the_old_file(tmp_path, error):
    target = tmp_path / "table.csv"
    target.write_text("old")
    with pytest.raises(error), atomic_path(target) as temporary:
        temporary.write_text("half")
        raise error
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_temporary_keeps_the_suffix_and_the_folder(tmp_path):
    with atomic_path(tmp_path / "photo.jpg.png") as temporary:
        assert (temporary.suffix, temporary.parent) == (".png", tmp_path)


def test_others_may_read_the_result_as_the_umask_says(tmp_path):
    old = os.umask(0o027)
    try:
        write_text(tmp_path / "a.txt", "")
    finally:
        os.umask(old)
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o640


def test_unwritable_places_are_output_errors(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "file" / "a.txt", tmp_path / "folder"):
        with pytest.raises(OutputError, match="cannot write") as caught:
            write_text(path, "text")
        assert str(path) in str(caught.value) and "\n" not in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_a_full_disk_is_an_output_error_and_leaves_nothing(tmp_path):
    with pytest.raises(OutputError, match="No space left"), atomic_path(tmp_path / "a.bin"):
        raise OSError(28, "No space left on device")
    assert list(tmp_path.iterdir()) == []


def test_names_that_are_not_utf8_are_escaped(tmp_path):
    odd = os.fsdecode(b"caf\xe9.jpg")
    write_json(tmp_path / "a.json", {"name": odd, "plain": "é"})
    write_csv(tmp_path / "a.csv", ["file", "reason"], [[odd, "a, b"], ["x\ny", 'q"']])
    assert json.loads((tmp_path / "a.json").read_text("utf-8")) == {"name": odd, "plain": "é"}
    expected = 'file,reason\ncaf\\udce9.jpg,"a, b"\n"x\ny","q"""\n'
    assert (tmp_path / "a.csv").read_text("utf-8") == expected


@pytest.mark.parametrize("name", ["", "..", "a/../b", "/a", "a//b", "a\0", "\ud800", "a/\udcff", 3])
def test_names_that_lead_elsewhere_or_are_none(name):
    assert not is_safe_name(name)
    assert is_safe_name("ä/b c.jpg")
