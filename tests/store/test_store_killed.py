"""Processes that are killed at any moment, and what resuming makes of what they leave."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
from PIL import Image
from segment_runs import SMALL, content, flags, forked, kill, process

from partdino.errors import OutputError
from partdino.runs.result_log import ResultLog, read_results
from partdino.runs.resume import contents
from partdino.runs.store import StoreWriter

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.fixture
def described(monkeypatch, tmp_path) -> Path:
    """A file with the names of what is described and stored from here on, in forks too."""
    path = tmp_path / "described.txt"
    add = StoreWriter.add

    def noted(self, block, photo, description):
        add(self, block, photo, description)
        with path.open("a") as stream:
            stream.write(f"{photo.name}\n")

    monkeypatch.setattr(StoreWriter, "add", noted)
    return path


# An image takes 5 changes of files, a block 14: 35 puts one in its place, 40 its index.
@pytest.mark.parametrize("at", [1, 9, 16, 35, 40, 42, 45, 60, 79, 84])
def test_killed_features_go_on_where_they_were(features, store, tmp_path, described, at):
    out = tmp_path / "store"
    code = forked(lambda: features(out), out, at, kill)
    assert code == -signal.SIGKILL
    result = features(out, "--resume")
    assert result.code == 0, result.stderr
    assert content(out) == content(store)
    names = described.read_text().split()
    # What was stored is never described again; noting it comes a moment after storing it.
    assert len(names) == len(set(names)) >= 7


@pytest.mark.parametrize("size", [0, 4, 1000])
def test_what_the_journal_has_half_of_is_described_again(features, store, tmp_path, size):
    """As a power failure may leave it, for which a file's name can outrun its content."""
    out = tmp_path / "store"
    assert forked(lambda: features(out), out, 21, kill) == -signal.SIGKILL
    file = next((out / "journal").rglob("*.safetensors"))
    file.write_bytes(file.read_bytes()[:size])
    result = features(out, "--resume")
    assert result.code == 0, result.stderr
    assert content(out) == content(store)


def test_killed_again_and_again_it_still_comes_to_the_end(partdino, photo_folder, tmp_path):
    """Every step of `segment` is killed somewhere, each time a bit later than the last time."""
    arguments = ("segment", photo_folder, *flags({**SMALL, "batch_size": 1}), "--out")
    assert partdino(*arguments, tmp_path / "whole").code == 0
    out = tmp_path / "killed"
    codes = []
    while not codes or codes[-1] == -signal.SIGKILL:
        at = 45 + 3 * len(codes)
        codes.append(forked(lambda: partdino(*arguments, out, "--resume"), out, at, kill))
    assert codes[-1] == 0 and len(codes) > 4
    assert "nothing is left to do" in partdino(*arguments, out, "--resume").stderr
    kept = {k: v for k, v in content(out, "run.json").items() if not k.startswith(".partdino-")}
    assert kept == content(tmp_path / "whole", "run.json")


@pytest.mark.parametrize("at", [2, 7, 12, 14, 30, 55, 64, 66])
def test_killed_labels_go_on_where_they_were(label, store, labelled, tmp_path, monkeypatch, at):
    out, lines = tmp_path / "out", tmp_path / "lines.txt"
    append = ResultLog.append

    def noted(self, result):
        append(self, result)
        with lines.open("a") as stream:
            stream.write(f"{result.name}\n")

    monkeypatch.setattr(ResultLog, "append", noted)
    assert forked(lambda: label(out, store), out, at, kill) == -signal.SIGKILL
    result = label(out, store, more=("--resume",))
    assert result.code == 0, result.stderr
    assert content(out, "run.json") == content(labelled, "run.json")
    names = lines.read_text().split()
    assert len(names) == len(set(names)) >= 7


def test_a_label_map_beyond_pillows_limit_is_recalled(labelled, monkeypatch):
    recorded = next(read_results(labelled / "results.jsonl"))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1)
    assert recorded.recall(labelled).label_map.any()


def test_a_line_cut_short_is_written_again(label, store, labelled, tmp_path):
    out = tmp_path / "out"
    forked(lambda: label(out, store), out, 55, kill)
    results = out / "results.jsonl"
    results.write_bytes(results.read_bytes()[:-10])
    assert label(out, store, more=("--resume",)).code == 0
    assert content(out, "run.json") == content(labelled, "run.json")


def test_other_features_are_labelled_anew(features, fit, label, store, photo_folder, tmp_path):
    """The labels of a run that was killed are not taken for those of a store that has grown."""
    out, other = tmp_path / "out", tmp_path / "store"
    assert features(other, photos=photo_folder / "animal_0003.jpg").code == 0
    forked(lambda: label(out, store), out, 40, kill)
    assert label(out, other, more=("--resume",)).code == 0
    assert [name for name in content(out / "labels")] == ["animal_0003.png"]


def test_a_killed_merge_leaves_nothing(partdino, shards, store, tmp_path):
    out = tmp_path / "whole"
    code = forked(lambda: partdino("merge", out, *shards), tmp_path, 8, kill)
    assert code == -signal.SIGKILL and not contents(out)
    assert partdino("merge", out, *shards).code == 0
    assert content(out) == content(store)
    assert os.listdir(tmp_path) == ["whole"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_a_run_with_a_summary(features, store, tmp_path, capfd, number):
    out = tmp_path / "store"

    def run():
        result = features(out)
        sys.__stderr__.write(result.stderr)
        sys.__stderr__.flush()
        return result

    code = forked(run, out, 16, lambda: os.kill(os.getpid(), number))
    assert code == 128 + number
    said = capfd.readouterr().err.splitlines()[-1]
    done = len(list((out / "journal").rglob("*.safetensors")))
    counts = (done, done - 1)  # an image counts a moment after it is stored
    assert said in [
        f"error: interrupted: {count} of 8 images have features; go on with --resume"
        for count in counts
    ]
    assert not list(out.rglob(".partdino-*"))
    assert features(out, "--resume").code == 0
    assert content(out) == content(store)


def test_a_signal_before_the_first_image(photo_folder, tmp_path):
    code = "import os, signal, partdino.describe.photos as p; p.search_images = " + (
        "lambda *a, **k: os.kill(os.getpid(), signal.SIGTERM)"
    )
    child = process("features", photo_folder, "--out", tmp_path / "store", before=code)
    _, said = child.communicate()
    assert child.returncode == 128 + signal.SIGTERM
    assert said == "error: interrupted: what is done is kept; go on with --resume\n"


def test_a_full_disk_while_labelling(label, store, labelled, tmp_path, monkeypatch):
    out = tmp_path / "out"

    def full(self, line):
        if self.path.exists() and self.path.stat().st_size > 1000:
            raise OutputError("cannot write: No space left on device")
        write(self, line)

    write = ResultLog._append
    with monkeypatch.context() as patch:
        patch.setattr(ResultLog, "_append", full)
        result = label(out, store)
    assert (result.code, result.stderr.count("Traceback")) == (2, 0)
    assert result.stderr.splitlines()[-1] == "error: cannot write: No space left on device"
    assert label(out, store, more=("--resume",)).code == 0
    assert content(out, "run.json") == content(labelled, "run.json")


# Until the new store is whole, what is read is the old one; from then on, the new one moves in, and
# what is done after that changes nothing.
@pytest.mark.parametrize("at", [1, 3, 6, 12, 30, 60, *range(80, 132, 3)])
def test_killed_overwriting_leaves_the_old_store_or_goes_on(features, store, tmp_path, at):
    out = tmp_path / "store"
    assert features(out, regions="slic").code == 0
    old = content(out)
    code = forked(lambda: features(out, "--overwrite"), out, at, kill)
    new = out / ".partdino"
    if code == 0:
        assert not new.exists()
    else:
        assert code == -signal.SIGKILL
        kept = {k: v for k, v in content(out).items() if not k.startswith(".partdino")}
        assert kept in (old, content(store)) or (new / "whole").exists()
        begun = (new / "store.json").exists() or (new / "whole").exists()
        assert features(out, "--resume" if begun else "--overwrite").code == 0
    assert content(out) == content(store)


def test_a_hopeless_overwriting_leaves_the_store(features, tmp_path):
    out, bad = tmp_path / "store", tmp_path / "bad"
    assert features(out).code == 0
    old = content(out)
    bad.mkdir()
    (bad / "a.jpg").write_text("no image")
    result = features(out, "--overwrite", photos=bad)
    assert result.code == 2 and "none of the 1 images could be read" in result.stderr
    assert content(out) == old and not (out / ".partdino").exists()
