"""`segment --update`: the folder of a run is as a run over the photos of today writes it."""

from __future__ import annotations

import json
import shutil
import signal
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from segment_runs import content, failures, files, forked, kill, label_bytes, table, unfinish

from partdino.runs.result_log import Recorded
from partdino.runs.steps import describe as describe_step
from partdino.runs.store import DescriptionStore
from partdino.runs.writers import contact_sheet


class Killed(BaseException):
    """The end of the process, at a moment of the test's choice."""


def _killed(*args: object) -> None:
    raise Killed


@pytest.fixture(scope="module")
def small(segment, photo_folder, tmp_path_factory) -> Path:
    """Four photos, one of them broken, and the run over them: to be copied."""
    root = tmp_path_factory.mktemp("update")
    (root / "in" / "a").mkdir(parents=True)
    for index, name in enumerate(("a/0.jpg", "1.jpg", "2.jpg")):
        shutil.copy(photo_folder / f"animal_{index:04d}.jpg", root / "in" / name)
    (root / "in" / "3.jpg").write_text("no image")
    assert segment(root / "in", root / "out").code == 1
    return root


@pytest.fixture
def grown(small, photo_folder, tmp_path) -> Path:
    """A copy in which photos were added, changed, cured and removed since the run."""
    shutil.copytree(small, tmp_path / "run", copy_function=shutil.copy2)
    photos = tmp_path / "run" / "in"
    shutil.copy(photo_folder / "animal_0004.jpg", photos / "0.jpg")
    shutil.copy(photo_folder / "animal_0005.jpg", photos / "1.jpg")
    shutil.copy(photo_folder / "animal_0006.jpg", photos / "3.jpg")
    (photos / "2.jpg").unlink()
    moved(tmp_path / "run")
    return tmp_path / "run"


def moved(root: Path) -> None:
    """Let a copied run say where the copies of its photos are."""
    results = root / "out" / "results.jsonl"
    head, *lines = [json.loads(line) for line in results.read_text().splitlines()]
    for line in lines:
        line["photo"] = str(root / "in" / line["name"])
    results.write_text("".join(json.dumps(line) + "\n" for line in (head, *lines)))


@pytest.fixture
def described(monkeypatch) -> list[str]:
    """The names of what is described from here on."""
    names: list[str] = []
    write = DescriptionStore.write
    monkeypatch.setattr(
        DescriptionStore,
        "write",
        lambda *args: (names.append(args[1].split()[0]), write(*args)),
    )
    return names


def update(partdino, root: Path, *more: object):
    command = ("segment", root / "in", "--out", root / "out", "--update", "--workers", 0)
    return partdino(*command, *more)


def whole(segment, root: Path) -> Path:
    """Return the output of a run with the model over all photos that are there."""
    fresh = root / "fresh"
    run = segment(root / "in", fresh, "--model", root / "out" / "parts.safetensors")
    assert run.code in (0, 1), run.stderr
    return fresh


def same_run(out: Path, fresh: Path) -> bool:
    """Return whether two folders hold the same results, to the byte, and the same counts."""
    documents = [json.loads((folder / "run.json").read_text()) for folder in (out, fresh)]
    names = ("counts", "options", "without_foreground", "without_photo", "not_read")
    assert [documents[0][n] for n in names] == [documents[1][n] for n in names]
    return content(out, "run.json") == content(fresh, "run.json")


def test_an_update_is_as_a_run_over_all_photos(partdino, segment, grown, described):
    model = (grown / "out" / "parts.safetensors").read_bytes()
    result = update(partdino, grown, "--drop-removed", "--json")
    assert result.code == 0, result.stderr
    assert described == ["0.jpg", "1.jpg", "3.jpg"]
    assert "1 photos are not there any more: 2.jpg; they are taken out" in result.stderr
    assert "1 are new, 1 images have changed and 1 had failed" in result.stderr
    counts = {"added": 1, "changed": 1, "failed": 1, "removed": 1}
    document = json.loads(result.stdout)
    assert document["update"] == counts and {"label", "write"} <= set(document["seconds"])
    assert sorted(label_bytes(grown / "out")) == ["0.jpg", "1.jpg", "3.jpg", "a/0.jpg"]
    assert (grown / "out" / "parts.safetensors").read_bytes() == model
    assert same_run(grown / "out", whole(segment, grown))
    before = content(grown / "out")
    again = update(partdino, grown)
    assert again.code == 0 and "nothing is left to do" in again.stderr
    assert content(grown / "out") == before


def test_an_update_keeps_the_results_of_removed_photos(partdino, grown):
    kept = (grown / "out" / "labels" / "2.png").read_bytes()
    result = update(partdino, grown)
    assert result.code == 0, result.stderr
    assert "2.jpg; their results stay (--drop-removed takes them out)" in result.stderr
    out = grown / "out"
    assert (out / "labels" / "2.png").read_bytes() == kept
    names = [image["file_name"] for image in json.loads((out / "coco.json").read_text())["images"]]
    assert names == ["0.jpg", "1.jpg", "2.jpg", "3.jpg", "a/0.jpg"]
    assert {row["image"] for row in table(out / "parts.csv")} == set(names)
    assert json.loads((out / "run.json").read_text())["counts"]["images"] == 5
    # Taken out later, with nothing to label; a failure that is gone leaves no trace.
    assert update(partdino, grown, "--drop-removed").code == 0
    assert "2.jpg" not in label_bytes(out) and not (out / ".partdino").exists()


def test_a_failed_photo_that_is_gone_is_forgotten(partdino, small, tmp_path):
    shutil.copytree(small, tmp_path / "run", copy_function=shutil.copy2)
    moved(tmp_path / "run")
    (tmp_path / "run" / "in" / "3.jpg").unlink()
    assert update(partdino, tmp_path / "run").code == 0
    assert failures(tmp_path / "run" / "out") == {}


def test_an_update_leaves_a_review_and_files_of_others(partdino, grown):
    out = grown / "out"
    (out / "labels" / "notes.txt").write_text("mine")
    review = '{"format": "partdino review", "schema": 1, "photos": {"a/0.jpg": "fine"}}'
    (out / "review.json").write_text(review)
    assert update(partdino, grown, "--drop-removed").code == 0
    assert (out / "labels" / "notes.txt").read_text() == "mine"
    assert (out / "review.json").read_text() == review


def test_photos_that_lie_elsewhere_now_are_not_labelled_again(partdino, small, tmp_path, described):
    shutil.copytree(small, tmp_path / "run", copy_function=shutil.copy2)
    (tmp_path / "run" / "in" / "3.jpg").unlink()
    result = update(partdino, tmp_path / "run", "--drop-removed")
    assert result.code == 0 and described == []
    lines = (tmp_path / "run" / "out" / "results.jsonl").read_text().splitlines()[1:]
    photos = [json.loads(line)["photo"] for line in lines]
    assert photos == [str(tmp_path / "run" / "in" / n) for n in ("1.jpg", "2.jpg", "a/0.jpg")]


def test_a_signal_tells_how_an_update_goes_on(partdino, grown, monkeypatch):
    write = DescriptionStore.write

    def interrupt(*args):
        write(*args)
        signal.raise_signal(signal.SIGTERM)

    with monkeypatch.context() as patch:
        patch.setattr(DescriptionStore, "write", interrupt)
        result = update(partdino, grown)
    assert "images have features; go on with --update" in result.stderr.splitlines()[-1]


def test_what_a_killed_update_has_described_is_kept(partdino, segment, grown, monkeypatch):
    before = content(grown / "out")
    describe_all, seen = describe_step.describe_images, []

    def killed(*args):
        for outcome in describe_all(*args):
            if seen:
                raise Killed
            seen.append(outcome.name)
            yield outcome

    with monkeypatch.context() as patch:
        patch.setattr(describe_step, "describe_images", killed)
        with pytest.raises(Killed):
            update(partdino, grown, "--drop-removed")
    assert {name: content(grown / "out")[name] for name in before} == before
    refused = segment(grown / "in", grown / "out")
    assert refused.code == 2 and "pass --update to go on with it" in refused.stderr
    # What is new by then is done, too, and what was described has not to be there any more.
    shutil.copy(grown / "in" / "0.jpg", grown / "in" / "4.jpg")
    result = update(partdino, grown, "--drop-removed")
    assert result.code == 0 and "Resuming: 1 images are described already" in result.stderr
    assert same_run(grown / "out", whole(segment, grown))


def test_a_killed_update_of_what_is_as_it_was_again_leaves_no_trace(
    partdino, small, tmp_path, photo_folder, monkeypatch
):
    shutil.copytree(small, tmp_path / "run", copy_function=shutil.copy2)
    root = tmp_path / "run"
    moved(root)
    (root / "in" / "3.jpg").unlink()
    assert update(partdino, root).code == 0
    before = content(root / "out")
    shutil.copy(photo_folder / "animal_0004.jpg", root / "in" / "9.jpg")
    with monkeypatch.context() as patch:
        patch.setattr(DescriptionStore, "write", _killed)
        with pytest.raises(Killed):
            update(partdino, root)
    (root / "in" / "9.jpg").unlink()
    assert "nothing is left to do" in update(partdino, root).stderr
    assert content(root / "out") == before


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_killed_at_any_change_an_update_loses_nothing(partdino, segment, grown, tmp_path):
    new, before = None, content(grown / "out")
    fresh = content(whole(segment, grown), "run.json")
    for at in range(1, 2000, 29):
        root = tmp_path / f"at-{at}"
        shutil.copytree(grown, root, copy_function=shutil.copy2)
        moved(root)
        fresh = {**fresh, "results.jsonl": _at(fresh["results.jsonl"], root)}
        old = {**before, "results.jsonl": (root / "out" / "results.jsonl").read_bytes()}
        run = partial(update, partdino, root, "--drop-removed")
        code = forked(run, root / "out", at, kill)
        found = content(root / "out")
        if not (root / "out" / ".partdino" / "whole").exists() and code:
            assert {name: found.get(name) for name in old} in (old, {**old, **fresh})
        result = update(partdino, root, "--drop-removed")
        assert result.code == 0, (at, result.stderr)
        assert content(root / "out", "run.json") == fresh, at
        shutil.rmtree(root)
        if code == 0:
            new = at
            break
    assert new and new > 50, "the update is longer than the test, or was never killed"


def _at(results: bytes, root: Path) -> bytes:
    """Return a list of results as it is where the photos lie in another folder."""
    head, *lines = [json.loads(line) for line in results.splitlines()]
    for line in lines:
        line["photo"] = str(root / "in" / line["name"])
    return "".join(json.dumps(line) + "\n" for line in (head, *lines)).encode()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--parts", 5], "was fitted with parts 4, not 5"),
        (["--foreground", "none"], "was fitted with foreground auto, not none"),
        (["--masks", "in"], "a run without masks; leave --masks out"),
        (["--overwrite"], "pass one of them"),
        (["--resume"], "pass one of them"),
    ],
)
def test_what_an_update_cannot_be_of(partdino, grown, monkeypatch, more, said):
    monkeypatch.chdir(grown)
    before = content(grown / "out")
    result = update(partdino, grown, *more)
    assert (result.code, said in result.stderr.splitlines()[-1]) == (2, True), result.stderr
    assert content(grown / "out") == before


def test_an_update_needs_a_finished_run(partdino, grown):
    result = partdino("segment", grown / "in", "--out", grown / "none", "--update")
    assert result.code == 2 and "holds no run to update" in result.stderr
    assert not (grown / "none").exists()
    unfinish(grown / "out")
    result = update(partdino, grown)
    assert result.code == 2 and "go on with --resume first" in result.stderr


def test_an_update_is_of_the_same_model_and_code(partdino, finished_run, grown):
    run = grown / "out" / "run.json"
    result = update(partdino, grown, "--model", finished_run / "parts.safetensors")
    assert result.code == 2 and "is not the model of the run in" in result.stderr
    document = json.loads(run.read_text())
    document["fingerprint"]["code_sha256"] = "other"
    run.write_text(json.dumps(document))
    result = update(partdino, grown)
    assert result.code == 2 and "another state of Part-DINO's code" in result.stderr
    assert f"--overwrite --model {grown / 'out' / 'parts.safetensors'}" in result.stderr
    document["shard"] = "1/2"
    run.write_text(json.dumps(document))
    assert "shard 1/2 of a run; merge" in update(partdino, grown).stderr
    shutil.copy(finished_run / "parts.safetensors", grown / "out")
    document["shard"] = "1/1"
    run.write_text(json.dumps(document))


def test_an_update_is_of_the_same_photos(partdino, grown, tmp_path):
    (tmp_path / "other").mkdir()
    shutil.copy(grown / "in" / "0.jpg", tmp_path / "other" / "other.jpg")
    result = partdino("segment", tmp_path / "other", "--out", grown / "out", "--update")
    assert result.code == 2 and "none of which is in INPUT" in result.stderr
    assert (
        "--drop-removed goes with --update"
        in partdino("segment", grown / "in", "--out", grown / "out", "--drop-removed").stderr
    )


def test_masks_are_those_of_the_run(partdino, segment, grown):
    masks, out = grown / "masks", grown / "masked"
    masks.mkdir()
    image = np.zeros((64, 64), np.uint8)
    image[16:48, 16:48] = 255
    for name, like in (("0", "0"), ("1", "1"), ("3", "3"), ("4", "0")):
        with Image.open(grown / "in" / f"{like}.jpg") as photo:
            Image.fromarray(image).resize(photo.size).save(masks / f"{name}.png")
    shutil.rmtree(grown / "in" / "a")
    assert segment(grown / "in", out, masks=masks).code == 0
    shutil.copy(grown / "in" / "0.jpg", grown / "in" / "4.jpg")
    arguments = ("segment", grown / "in", "--out", out, "--update")
    masks.rename(grown / "elsewhere")
    result = partdino(*arguments)
    assert result.code == 2 and f"a run with --masks {masks}, which is not there" in result.stderr
    assert partdino(*arguments, "--masks", grown / "elsewhere").code == 0
    assert sorted(label_bytes(out)) == ["0.jpg", "1.jpg", "3.jpg", "4.jpg"]
    assert json.loads((out / "run.json").read_text())["update"]["changed"] == 0


def test_the_curve_of_the_number_of_parts_stays(partdino, segment, grown):
    out = grown / "chosen"
    assert segment(grown / "in", out, parts="2-3").code == 0
    before = content(out)
    shutil.copy(grown / "in" / "0.jpg", grown / "in" / "4.jpg")
    assert partdino("segment", grown / "in", "--out", out, "--update").code == 0
    after = content(out)
    for suffix in ("csv", "png", "svg"):
        assert after[f"parts_curve.{suffix}"] == before[f"parts_curve.{suffix}"]
    parts = [json.loads(each["run.json"])["parts"] for each in (before, after)]
    assert parts[0] == parts[1] and files(out) == sorted(after)


@pytest.fixture
def recalled(monkeypatch) -> list[str]:
    """The names of the label maps that are read from here on."""
    names: list[str] = []
    recall = Recorded.recall
    monkeypatch.setattr(
        Recorded, "recall", lambda self, out: (names.append(self.name), recall(self, out))[1]
    )
    return names


def test_label_maps_that_are_kept_are_read_for_the_contact_sheet_alone(
    partdino, grown, recalled, monkeypatch
):
    monkeypatch.setattr(contact_sheet, "MAX_IMAGES", 1)
    monkeypatch.setattr(contact_sheet.sheet, "EXAMPLES", 1)
    assert update(partdino, grown).code == 0
    # What was labelled, once; of the others the most typical examples, at most one a part.
    assert {"0.jpg", "1.jpg", "3.jpg"} <= set(recalled)
    assert len(recalled) <= 3 + 4


@pytest.mark.parametrize("broken", ["saved again", "a row less", "missing", "of another run"])
def test_tables_that_are_not_as_the_run_wrote_them_are_not_taken(
    partdino, segment, grown, recalled, broken
):
    out = grown / "out"
    coco = json.loads((out / "coco.json").read_text())
    if broken == "saved again":
        (out / "coco.json").write_text(json.dumps(coco))
    elif broken == "a row less":
        rows = (out / "parts.csv").read_text().splitlines(keepends=True)
        (out / "parts.csv").write_text("".join(rows[:-1]))
    elif broken == "missing":
        (out / "coco.json").unlink()
    else:
        text = (out / "coco.json").read_text()
        (out / "coco.json").write_text(text.replace('"a/0.jpg"', '"a/1.jpg"'))
    assert update(partdino, grown, "--drop-removed").code == 0
    assert {"a/0.jpg", "1.jpg"} <= set(recalled)
    assert same_run(out, whole(segment, grown))


def test_a_label_map_that_is_lost_ends_an_update(partdino, grown):
    (grown / "out" / "labels" / "a" / "0.png").unlink()
    before = content(grown / "out")
    result = update(partdino, grown)
    assert result.code == 2 and "a/0.png is missing; label with --overwrite" in result.stderr
    assert {name: content(grown / "out")[name] for name in before} == before
