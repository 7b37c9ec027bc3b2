"""Runs that end before their end: nothing is half written, and `--resume` completes them."""

from __future__ import annotations

import multiprocessing
import os
import signal

import numpy as np
import pytest
from PIL import Image
from segment_runs import SMALL, files, flags, label_bytes, process

from partdino.store import DescriptionStore

# Does something instead of putting the n-th file of a kind in its place.
AT_FILE = """
import os, signal
put, seen = os.replace, []
def replace(source, target):
    seen.extend([target] * str(target).endswith({suffix!r}))
    if len(seen) == {number}:
        {action}
    put(source, target)
os.replace = replace
"""
KILL = "os.kill(os.getpid(), signal.SIGKILL)"
CTRL_C = "os.killpg(0, signal.SIGINT)"


def check_whole(out) -> None:
    """All descriptions and pictures but temporary ones can be read to their end."""
    for name in files(out):
        if "/.partdino-" in f"/{name}":
            continue
        if name.endswith(".npz"):
            with np.load(out / name) as arrays:
                assert all(array.size for array in arrays.values())
        elif name.endswith((".png", ".jpg")):
            Image.open(out / name).load()


@pytest.mark.parametrize(
    ("suffix", "number", "workers"),
    [(".npz", 3, 1), (".jpg.png", 4, 0)],
)
def test_a_killed_run_resumes_to_identical_labels(
    segment, photo_folder, finished_run, tmp_path, suffix, number, workers
):
    before = AT_FILE.format(suffix=suffix, number=number, action=KILL)
    options = flags({**SMALL, "workers": workers})
    child = process("segment", photo_folder, "--out", tmp_path, *options, before=before)
    # The pipes close when the workers have ended too.
    child.communicate(timeout=120)
    assert child.returncode == -signal.SIGKILL
    check_whole(tmp_path)
    kept = [name for name in files(tmp_path) if name.endswith(".npz") and "/.partdino-" not in name]
    assert len(kept) == (number - 1 if suffix == ".npz" else 8)
    assert not (tmp_path / "run.json").exists()

    result = segment(photo_folder, tmp_path, "--resume")
    assert result.code == 0, result.stderr
    assert f"{len(kept)} images are described already" in result.stderr
    assert label_bytes(tmp_path) == label_bytes(finished_run)
    assert files(tmp_path) == files(finished_run)
    assert (tmp_path / "coco.json").read_bytes() == (finished_run / "coco.json").read_bytes()


def test_ctrl_c_is_one_line_and_resumes(segment, photo_folder, finished_run, tmp_path):
    before = "import os\nos.setsid()" + AT_FILE.format(suffix=".npz", number=3, action=CTRL_C)
    options = flags({**SMALL, "workers": 1})
    child = process("segment", photo_folder, "--out", tmp_path, *options, before=before)
    _, stderr = child.communicate(timeout=120)
    assert child.returncode == 130
    assert stderr.splitlines()[-1] == "error: interrupted"
    assert "Traceback" not in stderr
    assert not any("/.partdino-" in name for name in files(tmp_path))
    assert segment(photo_folder, tmp_path, "--resume").code == 0
    assert label_bytes(tmp_path) == label_bytes(finished_run)


def test_killed_workers_cost_nothing(segment, photo_folder, finished_run, tmp_path, monkeypatch):
    write, killed = DescriptionStore.write, []

    def kill_workers_once(*arguments):
        write(*arguments)
        for child in () if killed else multiprocessing.active_children():
            os.kill(child.pid, signal.SIGKILL)
            killed.append(child)

    with monkeypatch.context() as patch:
        patch.setattr(DescriptionStore, "write", kill_workers_once)
        result = segment(photo_folder, tmp_path, workers=1)
    assert killed and result.code == 0, result.stderr
    assert label_bytes(tmp_path) == label_bytes(finished_run)


def test_a_full_disk_is_one_line(segment, photo_folder, tmp_path, monkeypatch):
    def no_space(source, target):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", no_space)
        result = segment(photo_folder, tmp_path)
    assert result.code == 2
    assert "No space left on device" in result.stderr.splitlines()[-1]
    assert not [name for name in files(tmp_path) if "/.partdino-" in f"/{name}"]
