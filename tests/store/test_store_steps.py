"""The steps of a run one by one, and in shards: the same bytes as a single run."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from PIL import Image
from segment_runs import SMALL, content, failures, files, flags, forked, kill

from partdino.errors import StoreError
from partdino.files import file_sha256
from partdino.runs.store import images, open_stores

TIMES = ("seconds", "seconds_total")


def run_without_times(out, *without: str) -> dict:
    run = json.loads((out / "run.json").read_text())
    return {key: value for key, value in run.items() if key not in (*TIMES, *without)}


def content_for(store, photos, others) -> dict[str, bytes]:
    """Return a store's content as if its photos lay in another folder."""
    paths = (str(photos).encode(), str(others).encode())
    return {name: data.replace(*paths) for name, data in content(store).items()}


def test_segment_is_the_three_steps_in_one(partdino, photo_folder, labelled, tmp_path):
    result = partdino("segment", photo_folder, "--out", tmp_path, "--batch-size", 1, *flags(SMALL))
    assert result.code == 0, result.stderr
    assert content(tmp_path, "run.json") == content(labelled, "run.json")
    other = ("model", "fingerprint")
    ours, theirs = (run_without_times(out, *other) for out in (tmp_path, labelled))
    assert 0 <= ours["parts"].pop("steadiness") <= 1  # of the fit, which `label` knows nothing of
    assert ours == theirs


def test_a_log_says_what_the_time_goes_to(features, label, tmp_path):
    said = features(tmp_path / "store", "--workers", 0).stderr.splitlines()
    (line,) = (line for line in said if line.startswith("features: 8/8 ("))
    assert all(stage in line for stage in ("decode", "features", "regions", "pooling"))
    said = label(tmp_path / "out", tmp_path / "store").stderr
    assert re.search(r"labels: 8/8 \(.*label \d+%", said)


def test_a_photo_that_is_cured_between_two_tries_of_label_is_labelled(
    features, label, photo_folder, tmp_path
):
    photos = shutil.copytree(photo_folder, tmp_path / "photos")
    photo = sorted(photos.iterdir())[2]
    intact, time = photo.read_bytes(), photo.stat().st_mtime_ns
    photo.write_bytes(bytes(len(intact)))
    os.utime(photo, ns=(time, time))
    store, out = tmp_path / "store", tmp_path / "out"
    assert features(store, photos=photos).code == 1
    assert forked(lambda: label(out, store), out, 60, kill) < 0
    photo.write_bytes(intact)
    os.utime(photo, ns=(time, time))
    assert features(store, "--resume", photos=photos).code == 0
    assert label(out, store, more=("--resume",)).code == 0
    assert failures(out) == {} and len(files(out / "labels")) == 8


def test_a_store_is_read_from_wherever(store, model, tmp_path, monkeypatch):
    monkeypatch.chdir(store.parent)
    opened = open_stores([Path(store.name)])
    monkeypatch.chdir(tmp_path)  # where a worker may be
    assert opened.read(opened.keys[0]).cells.any()


@pytest.mark.parametrize("count", [2, 3])
def test_merged_features_are_those_of_a_single_run(
    features, partdino, store, fit, model, tmp_path, count
):
    shards = [tmp_path / str(number) for number in range(1, count + 1)]
    for number, shard in enumerate(shards, 1):
        assert features(shard, "--shard", f"{number}/{count}").code == 0
    result = partdino("merge", tmp_path / "merged", *reversed(shards))
    assert result.code == 0, result.stderr
    assert content(tmp_path / "merged") == content(store)
    assert fit(tmp_path / "model", *reversed(shards)).code == 0
    assert (tmp_path / "model").read_bytes() == model.read_bytes()


def test_passes_over_shards_by_workers_learn_what_one_process_does(
    fit, store, shards, tmp_path, monkeypatch
):
    monkeypatch.setattr("partdino.parts.fitting._PIECE", 3)
    one, many = tmp_path / "one", tmp_path / "many"
    assert fit(one, store, more=("--fit-on", "all", "--workers", 0)).code == 0
    assert fit(many, *shards, more=("--fit-on", "all", "--workers", 2)).code == 0
    assert many.read_bytes() == one.read_bytes()


def test_a_script_can_read_what_was_fitted(fit, store, tmp_path):
    result = fit(tmp_path / "model", store, more=("--parts", "2-3", "--json", "--quiet"))
    document = json.loads(result.stdout)
    assert document["model"] == str(tmp_path / "model")
    assert document["parts"]["asked"] == "2-3" and document["parts"]["chosen"] in (2, 3)


def test_merged_labels_are_those_of_a_single_run(partdino, label, labelled, shards, tmp_path):
    outs = [tmp_path / str(number) for number in (1, 2, 3)]
    for number, out in enumerate(outs, 1):
        result = label(out, *shards, more=("--shard", f"{number}/3", "--workers", number % 2))
        assert result.code == 0, result.stderr
        assert not set(files(out / "labels")) & set(files(outs[number - 2] / "labels"))
    result = partdino("merge", tmp_path / "merged", *reversed(outs), "--workers", 1)
    assert result.code == 0, result.stderr
    assert content(tmp_path / "merged", "run.json") == content(labelled, "run.json")
    assert run_without_times(tmp_path / "merged") == run_without_times(labelled)


def test_merging_keeps_failures_in_their_order(
    features, fit, label, partdino, photo_folder, tmp_path
):
    photos = tmp_path / "photos"
    shutil.copytree(photo_folder, photos)
    for name in ("animal_0001.jpg", "animal_0006.jpg"):
        (photos / name).write_text("no image")
    assert features(tmp_path / "store", photos=photos).code == 1
    assert fit(tmp_path / "model", tmp_path / "store").code == 0
    for out, shard in (("whole", "1/1"), ("one", "1/2"), ("two", "2/2")):
        more = ("--shard", shard)
        assert label(tmp_path / out, tmp_path / "store", model=tmp_path / "model", more=more).code
    assert set(failures(tmp_path / "one")) == {"animal_0001.jpg"}
    result = partdino("merge", tmp_path / "merged", tmp_path / "one", tmp_path / "two")
    assert result.code == 1 and "2 images failed" in result.stderr
    assert content(tmp_path / "merged", "run.json") == content(tmp_path / "whole", "run.json")
    assert run_without_times(tmp_path / "merged") == run_without_times(tmp_path / "whole")


def test_a_lost_photo_costs_its_overlay_and_its_fine_outline(
    features, label, labelled, photo_folder, tmp_path
):
    photos = tmp_path / "photos"
    shutil.copytree(photo_folder, photos)
    assert features(tmp_path / "store", photos=photos).code == 0
    (photos / "animal_0002.jpg").unlink()
    result = label(tmp_path / "out", tmp_path / "store")
    assert result.code == 0
    assert "they have no overlay and a coarser outline: animal_0002.jpg" in (result.stderr)
    lost = set(files(labelled)) - set(files(tmp_path / "out"))
    assert lost == {"overlays/animal_0002.jpg"}
    coarse = tmp_path / "coarse"
    assert label(coarse, tmp_path / "store", more=("--outline-size", 0)).code == 0
    for name in files(labelled / "labels"):
        whole = coarse if name == "animal_0002.png" else labelled
        for_it = (whole / "labels" / name).read_bytes()
        assert (tmp_path / "out" / "labels" / name).read_bytes() == for_it
    assert run_without_times(tmp_path / "out")["without_photo"] == ["animal_0002.jpg"]


def test_masks_are_read_with_the_features(features, fit, label, photo_folder, tmp_path):
    masks = photo_folder.parent / "labels"
    store, model = tmp_path / "store", tmp_path / "model"
    assert features(store, masks=masks).code == 0
    assert fit(model, store).code == 0
    assert label(tmp_path / "out", store, model=model).code == 0
    assert run_without_times(tmp_path / "out")["options"]["masks"] == str(masks)
    result = fit(tmp_path / "other", store, more=("--foreground", "none"))
    assert (result.code, result.stderr.count("\n")) == (2, 1)
    assert "made with them" in result.stderr


def test_a_store_grows_with_its_collection(features, photo_folder, store, tmp_path):
    photos = tmp_path / "photos"
    photos.mkdir()
    names = sorted(os.listdir(photo_folder))
    for chosen in (names[1::2], names):
        for name in chosen:
            shutil.copy2(photo_folder / name, photos / name)
        result = features(tmp_path / "store", "--resume", photos=photos)
        assert result.code == 0
    assert "Resuming: 4 images are described already." in result.stderr
    assert content_for(tmp_path / "store", photos, photo_folder) == content(store)


def test_a_damaged_block_is_not_taken_for_a_good_one(features, photo_folder, store, tmp_path):
    photos, out = tmp_path / "photos", tmp_path / "store"
    shutil.copytree(photo_folder, photos)
    first = photos / min(os.listdir(photos))
    first.rename(tmp_path / first.name)
    assert features(out, photos=photos).code == 0
    (tmp_path / first.name).rename(first)
    block = out / "blocks" / "000000.safetensors"
    data = block.read_bytes()
    block.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert features(out, "--resume", photos=photos).code == 0
    assert content_for(out, photos, photo_folder) == content(store)


def test_resuming_what_is_finished_changes_nothing(features, store, tmp_path):
    out = shutil.copytree(store, tmp_path / "store")
    assert features(out, "--resume").code == 0
    assert content(out) == content(store)


def test_merging_takes_results_alone_and_changes_no_shard(partdino, label, shards, tmp_path):
    outs = [tmp_path / "one", tmp_path / "two"]
    for number, out in enumerate(outs, 1):
        assert label(out, *shards, more=("--shard", f"{number}/2")).code == 0
        (out / "labels" / "notes.txt").write_text(f"of shard {number}")
    (tmp_path / "real").mkdir()
    (tmp_path / "whole").symlink_to("real")
    assert partdino("merge", tmp_path / "whole", *outs).code == 0
    for number, out in enumerate(outs, 1):
        assert (out / "labels" / "notes.txt").read_text() == f"of shard {number}"
    assert not (tmp_path / "whole" / "labels" / "notes.txt").exists()
    assert (tmp_path / "whole").is_symlink() and (tmp_path / "real" / "run.json").exists()
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".partdino")]


def test_a_store_replaced_while_it_is_read_ends_the_run(store, tmp_path):
    copy = tmp_path / "store"
    shutil.copytree(store, copy)
    opened = open_stores([copy])
    opened.read(opened.keys[0])
    block = opened.images[0].block
    content = bytearray(block.read_bytes())
    content[-1] ^= 1
    block.unlink()
    block.write_bytes(content)
    index = json.loads(block.with_suffix(".json").read_text())
    index["sha256"] = file_sha256(block)  # as of a new store that is whole
    block.with_suffix(".json").write_text(json.dumps(index))
    with pytest.raises(StoreError, match="replaced meanwhile"):
        opened.read(opened.keys[0])


@pytest.mark.parametrize("command", ["fit", "label"])
def test_a_store_replaced_between_its_header_and_its_blocks(
    features, fit, label, store, tmp_path, monkeypatch, command
):
    copy, other = tmp_path / "store", tmp_path / "other"
    shutil.copytree(store, copy)
    assert features(other, region_size=96).code == 0
    index, replaced = images.read_index, []

    def instead(path):
        if not replaced:
            replaced.append(shutil.rmtree(copy))
            shutil.copytree(other, copy)
        return index(path)

    monkeypatch.setattr(images, "read_index", instead)
    out = tmp_path / ("m.safetensors" if command == "fit" else "out")
    result = fit(out, copy) if command == "fit" else label(out, copy)
    assert result.code == 2 and f"{copy} has just been replaced" in result.stderr
    assert not out.exists()


def test_fit_replaces_models_alone(fit, store, tmp_path):
    copy = tmp_path / "store"
    shutil.copytree(store, copy)
    before = content(copy)
    result = fit(copy / "store.json", copy, more=("--overwrite",))
    assert result.code == 2 and "is no model, so it is not replaced" in result.stderr
    assert content(copy) == before


def test_a_photo_of_another_size_is_not_drawn_under_old_labels(
    features, label, photo_folder, tmp_path
):
    photos = tmp_path / "photos"
    shutil.copytree(photo_folder, photos)
    assert features(tmp_path / "store", photos=photos).code == 0
    Image.new("RGB", (31, 20)).save(photos / "animal_0000.jpg")
    result = label(tmp_path / "out", tmp_path / "store")
    assert result.code == 0 and "1 photos cannot be read any more" in result.stderr
    assert not (tmp_path / "out" / "overlays" / "animal_0000.jpg").exists()
