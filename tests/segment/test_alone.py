"""Two runs with the same output: the second one is refused."""

from __future__ import annotations

import errno
import os
import signal
import time
import warnings
from contextlib import ExitStack
from pathlib import Path

import pytest
from segment_runs import SMALL, content, files, flags, process

from partdino.errors import OutputError
from partdino.runs.lock import lock_folder

# Stops, but does not end, instead of storing the third description.
STOP_AT_THE_THIRD = """
import os, signal
from partdino.runs.store import DescriptionStore
write, seen = DescriptionStore.write, []
def instead(store, key, description):
    seen.append(key)
    if len(seen) == 3:
        open(store.folder / "here", "w").close()
        os.kill(os.getpid(), signal.SIGSTOP)
    write(store, key, description)
DescriptionStore.write = instead
"""


def test_a_folder_is_written_by_one_run_at_a_time(segment, photo_folder, finished_run, tmp_path):
    out = tmp_path / "out"
    arguments = ("segment", photo_folder, "--out", out, *flags(SMALL))
    child = process(*arguments, before=STOP_AT_THE_THIRD)
    while not (out / ".partdino" / "features" / "journal" / "here").exists():
        assert child.poll() is None
        time.sleep(0.05)
    before = content(out)
    for flag in ([], ["--resume"], ["--overwrite"]):
        result = segment(photo_folder, out, *flag)
        assert result.code == 2
        assert "another run is writing to" in result.stderr.splitlines()[-1]
    assert content(out) == before
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    result = segment(photo_folder, out, "--resume")
    assert result.code == 0 and "2 images are described already" in result.stderr
    assert content(out, "run.json") == content(finished_run, "run.json")


def test_nothing_is_left_of_a_folder_that_nothing_was_written_to(tmp_path):
    folder, refused = tmp_path / "a" / "b", pytest.raises(OutputError, match="another run")
    with lock_folder(folder), refused, lock_folder(folder):
        pass
    assert files(tmp_path) == [] and not (tmp_path / "a").exists()


def test_the_end_of_one_run_lets_only_one_other_in(tmp_path):
    unlink, second = Path.unlink, ExitStack()

    def then_another(path, missing_ok=False):
        unlink(path, missing_ok)
        patch.undo()
        second.enter_context(lock_folder(tmp_path))

    with lock_folder(tmp_path):
        patch = pytest.MonkeyPatch()
        patch.setattr(Path, "unlink", then_another)
    with second, pytest.raises(OutputError, match="another run"), lock_folder(tmp_path):
        pass
    assert files(tmp_path) == []


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_disk_without_locks_is_written_without_one(tmp_path, monkeypatch, number):
    def no_lock(*_):
        raise OSError(number, "no locks here")

    monkeypatch.setattr("fcntl.flock", no_lock)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with lock_folder(tmp_path / "out"):
            (tmp_path / "out" / "a").touch()
    assert (tmp_path / "out" / "a").exists()
