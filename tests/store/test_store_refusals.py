"""What does not fit together, is missing or damaged: one line, and nothing is changed."""

from __future__ import annotations

import json
import resource
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from segment_runs import content, forked

from partdino.errors import ConfigError
from partdino.runs.shard import Shard


def refused(result, *said: str) -> None:
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-1].startswith("error: ")
    assert "Traceback" not in result.stderr and "unexpected" not in result.stderr
    for text in said:
        assert text in result.stderr.splitlines()[-1], result.stderr


@pytest.fixture
def copy(store, tmp_path) -> Path:
    """A store that may be changed."""
    return shutil.copytree(store, tmp_path / "copy")


def change_header(folder: Path, **values: object) -> None:
    path = folder / "store.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def test_what_is_no_store(fit, copy, tmp_path, photo_folder):
    for folder in (photo_folder, tmp_path / "missing", tmp_path):
        refused(fit(tmp_path / "m", folder), str(folder), "is not a feature store")
    for text in ("{", "[]", '{"format": "other"}', '{"format": "partdino feature store"}'):
        (copy / "store.json").write_text(text)
        refused(fit(tmp_path / "m", copy), "is not a feature store")
    assert not (tmp_path / "m").exists()


def test_a_store_of_another_version(fit, features, copy, tmp_path):
    change_header(copy, schema=99, version="9.9")
    before = content(copy)
    refused(fit(tmp_path / "m", copy), "Part-DINO 9.9 (schema 99, here 2)", "--overwrite")
    refused(features(copy, "--resume"), "Part-DINO 9.9")
    assert content(copy) == before
    change_header(copy, schema=2, code_sha256="of 9.9")
    refused(features(copy, "--resume"), "another state of Part-DINO's code")


@pytest.mark.parametrize(
    "values",
    [
        *({"options": {}}, {"options": {"new": 1}}, {"options": "x"}, {"weights": {}}),
        *({"images": "x"}, {"images": 0}, {"block_size": 0}, {"names_sha256": 1}),
        *({"shard": "3/2"}, {"shard": 1}, {"notes": None}, {"surprise": 1}),
        *({"numbers": {}}, {"numbers": None}, {"numbers": {"lattice": 0}}, {"code_sha256": None}),
    ],
)
def test_a_header_that_was_edited(fit, features, label, copy, tmp_path, values):
    change_header(copy, **values)
    before = content(copy)
    for result in (fit(tmp_path / "m", copy), label(tmp_path / "l", copy)):
        refused(result, "store.json is not what Part-DINO")
    refused(features(copy, "--resume"), "store.json is not what Part-DINO")
    assert content(copy) == before


def test_a_header_that_lacks_an_option_or_has_one_of_no_sense(fit, copy, tmp_path):
    options = json.loads((copy / "store.json").read_text())["options"]
    for changed in (
        {name: value for name, value in options.items() if name != "symmetry"},
        {**options, "region_size": "large"},
    ):
        change_header(copy, options=changed)
        refused(fit(tmp_path / "m", copy), "store.json is not what Part-DINO")


@pytest.mark.parametrize(("option", "value"), [("region_size", 160), ("image_size", 256)])
def test_another_configuration(features, copy, option, value):
    before = content(copy)
    refused(features(copy, "--resume", **{option: value}), f"another {option}", "--overwrite")
    assert content(copy) == before


def test_another_shard(features, shards, tmp_path):
    begun = shutil.copytree(shards[0], tmp_path / "shard")
    refused(features(begun, "--resume", "--shard", "2/2"), "begun as shard 1/2, not 2/2", "--out")
    assert content(begun) == content(shards[0])


def test_photos_of_another_folder(features, copy, tmp_path, photo_folder):
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(photo_folder / "animal_0000.jpg", other / "new.jpg")
    before = content(copy)
    refused(features(copy, "--resume", photos=other), "features of other photos", "--overwrite")
    assert content(copy) == before
    shutil.copy2(photo_folder / "animal_0000.jpg", other)
    result = features(copy, "--resume", photos=other)
    assert result.code == 0
    assert "warning: 7 images are not in INPUT any more: they are left out" in result.stderr
    assert "Resuming: 1 images are described already." in result.stderr


def test_a_store_in_the_way(features, copy, tmp_path):
    before = content(copy)
    refused(features(copy), "holds a feature store", "--resume", "--overwrite")
    (tmp_path / "diary.txt").write_text("mine")
    for flag in ("--resume", "--overwrite"):
        refused(features(tmp_path, flag), "holds files of something else")
    assert content(copy) == before


def test_overwriting_leaves_nothing_of_the_old(features, store, copy):
    change_header(copy, schema=99)
    (copy / "blocks" / "000007.json").write_text("{}")
    assert features(copy, "--overwrite").code == 0
    assert content(copy) == content(store)


def test_missing_and_double_shards(fit, partdino, shards, tmp_path):
    one, two = shards
    refused(fit(tmp_path / "m", one), "is one of 2 shards; add shard 2/2")
    refused(fit(tmp_path / "m", two), "add shard 1/2")
    refused(partdino("merge", tmp_path / "x", one), "add shard 2/2")
    refused(fit(tmp_path / "m", one, two, two), "are both shard 2/2")
    assert list(tmp_path.iterdir()) == []


def test_shards_of_different_runs(fit, features, shards, store, tmp_path, photo_folder):
    refused(fit(tmp_path / "m", shards[0], store), "shard 1/2", "is shard 1/1")
    other = tmp_path / "other"
    assert features(other, "--shard", "2/2", region_size=160).code == 0
    refused(
        fit(tmp_path / "m", shards[0], other), "not shards of one run", "region_size 128 and 160"
    )
    photo = photo_folder / "animal_0000.jpg"
    assert features(other, "--shard", "2/2", "--overwrite", photos=photo).code == 0
    refused(fit(tmp_path / "m", shards[0], other), "not shards of one run", "images 8 and 1")


def test_merging_does_not_mix_nor_overwrite(partdino, shards, store, labelled, tmp_path):
    out = shutil.copytree(store, tmp_path / "out")
    refused(partdino("merge", out, *shards), "--overwrite")
    assert content(out) == content(store)
    assert partdino("merge", out, *shards, "--overwrite").code == 0
    assert content(out) == content(store)
    (out / "notes.txt").write_text("mine")
    refused(partdino("merge", out, *shards, "--overwrite"), "files of something else")
    assert (out / "notes.txt").read_text() == "mine"
    refused(partdino("merge", tmp_path, *shards, "--overwrite"), "files of something else")
    refused(partdino("merge", tmp_path / "x", labelled, shards[0]), str(shards[0]))


def test_a_shard_is_not_replaced_by_the_whole(partdino, shards, tmp_path):
    own = [shutil.copytree(shard, tmp_path / shard.name) for shard in shards]
    before = content(own[0])
    refused(partdino("merge", own[0], *own, "--overwrite"), "is one of the shards")
    assert content(own[0]) == before


def test_results_that_lack_lines_are_not_merged(partdino, label, store, tmp_path):
    outs = [tmp_path / "1", tmp_path / "2"]
    for number, out in enumerate(outs, 1):
        assert label(out, store, more=("--shard", f"{number}/2")).code == 0
    results = outs[0] / "results.jsonl"
    lines = results.read_bytes().splitlines(keepends=True)
    results.write_bytes(b"".join(lines[:-1]))
    refused(partdino("merge", tmp_path / "out", *outs), f"{results} lists 3 of 4 images")
    results.write_bytes(b"".join(lines)[:-20])
    refused(partdino("merge", tmp_path / "out", *outs), f"{results}: line 5 is damaged")
    assert not (tmp_path / "out").exists()


def test_outputs_that_lack_a_file_are_not_merged(partdino, label, store, tmp_path):
    assert label(tmp_path / "1", store).code == 0
    model = tmp_path / "1" / "parts.safetensors"
    model.unlink()
    refused(partdino("merge", tmp_path / "out", tmp_path / "1"), f"{model} is missing", "label")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("seconds", value) for value in (None, [], {"label": "x"}, {"label": 10**400})),
        *(("seconds_total", value) for value in (None, float("nan"), float("inf"))),
        *(("notes", value) for value in (None, "note", [3])),
        *(("counts", value) for value in (None, {}, {"images": "8"})),
        *(("fingerprint", value) for value in (3, [])),
    ],
)
def test_a_run_that_holds_what_none_would_is_not_merged(partdino, labelled, tmp_path, field, value):
    run = shutil.copytree(labelled, tmp_path / "run")
    document = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**document, field: value}))
    refused(partdino("merge", tmp_path / "out", run), f"{run / 'run.json'} is damaged")


@pytest.mark.parametrize("value", [None, 3, "9" * 5000 + "/" + "9" * 5000, []])
def test_a_list_of_results_of_no_shard_is_not_merged(partdino, labelled, tmp_path, value):
    run = shutil.copytree(labelled, tmp_path / "run")
    head, rest = (run / "results.jsonl").read_text().split("\n", 1)
    head = json.dumps({**json.loads(head), "shard": value})
    (run / "results.jsonl").write_text(f"{head}\n{rest}")
    refused(partdino("merge", tmp_path / "out", run), "--shard")


def damage(path: Path, how: str) -> None:
    data = bytearray(path.read_bytes())
    if how == "one bit":
        data[-1] ^= 1
    elif how == "half":
        del data[len(data) // 2 :]
    path.unlink()
    if how != "missing":
        path.write_bytes(data)


@pytest.mark.parametrize("how", ["one bit", "half", "missing"])
def test_a_damaged_block_is_named_and_made_again(
    fit, label, features, partdino, store, copy, tmp_path, how
):
    block = copy / "blocks" / "000001.safetensors"
    damage(block, how)
    for result in (
        fit(tmp_path / "m", copy),
        label(tmp_path / "out", copy),
        partdino("merge", tmp_path / "x", copy),
    ):
        refused(result, str(block), "is damaged")
    assert not (tmp_path / "m").exists() and not (tmp_path / "x").exists()
    block.unlink(missing_ok=True)
    result = features(copy, "--resume")
    assert "Resuming: 4 images are described already." in result.stderr
    assert content(copy) == content(store)


@pytest.mark.parametrize("text", ["", "{}", "[]", None])
def test_a_damaged_or_missing_index(fit, copy, tmp_path, text):
    index = copy / "blocks" / "000000.json"
    index.unlink()
    if text is not None:
        index.write_text(text)
    said = "is unfinished: 1 of its 2 blocks are missing" if text is None else "is damaged"
    refused(fit(tmp_path / "m", copy), said)


def test_files_of_others_in_a_store_are_left_alone(features, copy):
    stray = copy / "blocks" / ".notes.json"
    stray.write_text("{}")
    (copy / "blocks" / "000001.json").unlink()
    assert features(copy, "--resume").code == 0
    assert stray.read_text() == "{}"


@pytest.mark.parametrize("name", ["blocks/notes.txt", "blocks/mine/000000.csv", "journal/a.png"])
def test_files_of_others_among_those_that_are_replaced(features, partdino, shards, copy, name):
    (copy / name).parent.mkdir(exist_ok=True)
    (copy / name).write_text("mine")
    before = content(copy)
    refused(features(copy, "--overwrite"), f"{copy / name} is none of the files of a store")
    refused(partdino("merge", copy, *shards, "--overwrite"), str(copy / name))
    assert content(copy) == before


def test_a_model_of_other_features(features, label, store, tmp_path):
    assert features(tmp_path / "store", region_size=160).code == 0
    result = label(tmp_path / "out", tmp_path / "store")
    refused(result, "fitted with region_size 128, and the store was made with 160")
    assert not (tmp_path / "out").exists()


def test_a_model_in_the_way(fit, store, model, tmp_path):
    path = Path(shutil.copy(model, tmp_path))
    refused(fit(path, store, parts=3), "--overwrite")
    assert path.read_bytes() == model.read_bytes()
    assert fit(path, store, parts=3, more=("--overwrite",)).code == 0
    assert path.read_bytes() != model.read_bytes()


@pytest.mark.parametrize("name", ["folder", "file/m.safetensors"])
def test_a_model_that_cannot_be_written_is_not_fitted(fit, store, tmp_path, monkeypatch, name):
    monkeypatch.setattr("partdino.runs.steps.fit.fit_store", None)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    said = str(tmp_path / Path(name).parts[0])
    refused(fit(tmp_path / name, store, more=("--overwrite",)), said)


@pytest.mark.parametrize("parts", ["2-3", 3])
def test_a_curve_in_the_way(fit, store, tmp_path, parts):
    curve = tmp_path / "m_curve.csv"
    curve.write_text("mine")
    refused(fit(tmp_path / "m.safetensors", store, parts=parts), str(curve), "--overwrite")
    assert curve.read_text() == "mine"


def test_the_curve_of_a_model_that_is_replaced_goes_with_it(fit, store, tmp_path):
    path = tmp_path / "m.safetensors"
    path.touch()
    for suffix in ("csv", "png", "svg"):
        (tmp_path / f"m_curve.{suffix}").touch()
    assert fit(path, store, more=("--overwrite",)).code == 0
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("name", ["m.safetensors", "m_curve.csv", "m_curve.png", "m_curve.svg"])
def test_fit_replaces_nothing_of_somebody_else(fit, store, tmp_path, name):
    save_file({"weight": np.ones(3, np.float32)}, tmp_path / name, {"format": "pt"})
    before = (tmp_path / name).read_bytes()
    refused(
        fit(tmp_path / "m.safetensors", store, more=("--overwrite",)), f"{name} is no", "replaced"
    )
    assert (tmp_path / name).read_bytes() == before and len(list(tmp_path.iterdir())) == 1


def test_fit_replaces_a_curve_of_its_own(fit, store, tmp_path):
    path = tmp_path / "m.safetensors"
    assert fit(path, store, parts="2-3").code == 0 and len(list(tmp_path.iterdir())) == 4
    before = content(tmp_path)
    assert fit(path, store, parts="2-3", more=("--overwrite",)).code == 0
    assert content(tmp_path) == before
    assert fit(path, store, parts=2, more=("--overwrite",)).code == 0
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "1/0", "a/b", "-1/2", "1/2/3"])
def test_a_shard_that_is_none(text):
    with pytest.raises(ConfigError, match=f"--shard {text}: pass i/n"):
        Shard.parse(text)


@pytest.mark.parametrize(("length", "count"), [(0, 3), (1, 3), (7, 3), (12, 5)])
def test_shares_are_even_and_make_the_whole(length, count):
    items = range(length)
    shares = [Shard(number, count).share(items) for number in range(1, count + 1)]
    assert [item for share in shares for item in share] == list(items)
    assert {len(share) for share in shares} <= {length // count, length // count + 1}


def test_a_full_disk_costs_nothing_that_was_done(features, store, tmp_path, capfd):
    out = tmp_path / "store"

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    # From some image on no file can be longer than 1,000 bytes.
    code = forked(lambda: show(features(out)), out, 30, limit)
    assert code == 2
    said = capfd.readouterr().out.splitlines()[-1]
    assert said.startswith(f"error: cannot write {out}") and "File too large" in said
    kept = len(list((out / "journal").rglob("*.safetensors")))
    assert 0 < kept < 8 and not list(out.rglob(".partdino-*"))
    result = features(out, "--resume")
    assert f"Resuming: {kept} images are described already." in result.stderr
    assert content(out) == content(store)


def show(result):
    print(result.stderr, end="", flush=True)
    return result
