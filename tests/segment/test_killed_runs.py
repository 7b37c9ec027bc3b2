"""Runs with workers that end before their end: in one line, and `--resume` completes them.

What is left by kills at other moments is tested in `tests/store/test_store_killed.py`.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess

import pytest
from segment_runs import SMALL, content, files, flags, label_bytes, process

from partdino.runs.store import DescriptionStore

# Does something instead of storing the third description.
AT_THE_THIRD = """
import os, signal
from partdino.runs.store import DescriptionStore
os.setsid()
write, seen = DescriptionStore.write, []
def instead(store, key, description):
    seen.append(key)
    if len(seen) == 3:
        {action}
    write(store, key, description)
DescriptionStore.write = instead
"""
KILL = "os.kill(os.getpid(), signal.SIGKILL)"
CTRL_C = "os.killpg(0, signal.SIGINT)"
TERMINATE = "os.kill(os.getpid(), signal.SIGTERM)"


def ended(photo_folder, out, action: str) -> tuple[subprocess.Popen, str]:
    """Run `partdino segment` with a worker until it ends itself; return it and what it said."""
    options = flags({**SMALL, "workers": 1})
    before = AT_THE_THIRD.format(action=action)
    child = process("segment", photo_folder, "--out", out, *options, before=before)
    # The pipes close when the workers have ended too.
    _, stderr = child.communicate(timeout=120)
    return child, stderr


def test_a_killed_run_resumes_to_identical_results(segment, photo_folder, finished_run, tmp_path):
    child, _ = ended(photo_folder, tmp_path, KILL)
    assert child.returncode == -signal.SIGKILL
    assert not (tmp_path / "run.json").exists()
    result = segment(photo_folder, tmp_path, "--resume")
    assert result.code == 0, result.stderr
    assert "2 images are described already" in result.stderr
    assert content(tmp_path, "run.json") == content(finished_run, "run.json")


@pytest.mark.parametrize(("action", "code"), [(CTRL_C, 130), (TERMINATE, 143)])
def test_a_signal_is_one_line_and_resumes(
    segment, photo_folder, finished_run, tmp_path, action, code
):
    child, stderr = ended(photo_folder, tmp_path, action)
    assert child.returncode == code
    assert stderr.splitlines()[-1] == (
        "error: interrupted: 2 of 8 images have features; go on with --resume"
    )
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
