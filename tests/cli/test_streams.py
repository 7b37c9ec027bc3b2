"""Standard output that is closed, full or not read; names of files in a locale without UTF-8."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from segment_runs import SMALL, failures, flags

from partdino.cli.streams import Guarded

FULL = Path("/dev/full")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")


def shell(line: str, *arguments: object, **environment: str) -> subprocess.CompletedProcess:
    """Run a line of a shell in which ``$@`` is the command with its arguments."""
    command = ["sh", "-c", line, "sh", sys.executable, "-m", "partdino", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, env={**os.environ, **environment}, timeout=300, check=False
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [('"$@" >&-', "Bad file descriptor"), ('"$@" >/dev/full', "No space left on device")],
)
@pytest.mark.parametrize("arguments", [("weights", "list"), ("--version",), ("--help",)])
def test_output_that_cannot_be_written_is_one_line(line, reason, arguments):
    if "full" in line and not FULL.exists():
        pytest.skip("there is no /dev/full here")
    done = shell(line, *arguments)
    assert done.returncode == 2
    assert done.stderr.decode() == f"error: cannot write to standard output: {reason}\n"


@pytest.mark.parametrize("line", ['"$@" >&-', '"$@" >/dev/full'])
def test_a_run_keeps_its_code_though_its_json_cannot_be_written(line, photo_folder, tmp_path):
    photos = tmp_path / "photos"
    photos.mkdir()
    for name in ("animal_0000.jpg", "animal_0001.jpg"):
        shutil.copy(photo_folder / name, photos)
    (photos / "bad.jpg").write_text("no image")
    run = ("segment", photos, *flags(SMALL), "--quiet", "--json", "--out", tmp_path / "out")
    done = shell(line, *run)
    assert done.returncode == 1
    last = done.stderr.decode().splitlines()[-1]
    assert last.startswith("error: cannot write to standard output")
    assert (tmp_path / "out" / "run.json").exists() and set(failures(tmp_path / "out")) == {
        "bad.jpg"
    }


def test_a_reader_that_goes_and_closed_errors_change_nothing():
    done = shell('"$@" | true', "weights", "list")
    assert (done.returncode, done.stderr) == (0, b"")
    done = shell('"$@" 2>&-', "--version")
    assert (done.returncode, done.stdout[:9]) == (0, b"partdino ")


def test_a_guard_keeps_the_first_error_and_drops_the_rest():
    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(28, "No space left on device")

    guard = Guarded(Full())
    assert guard.write("a") == guard.write("b") == 0
    guard.flush()
    assert guard.error.errno == 28 and guard.encoding is None


@pytest.mark.skipif(sys.platform == "darwin", reason="its names are always UTF-8")
def test_a_locale_without_utf8_ends_no_run(photo_folder, tmp_path):
    photos, out = tmp_path / "photos", tmp_path / "out"
    photos.mkdir()
    for name in ("plain.jpg", "Vögel 日本.jpg"):
        shutil.copy(photo_folder / "animal_0000.jpg", photos / name)
    run = ("segment", photos, *flags(SMALL), "--out", out)
    done = shell('"$@"', *run, LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
    assert done.returncode == 0, done.stderr
    names = sorted(path.name for path in (out / "labels").iterdir())
    assert names == ["Vögel 日本.png", "plain.png"]
