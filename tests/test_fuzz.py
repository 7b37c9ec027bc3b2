"""Model files, stores and configurations that hold anything: used, or refused in one line.

``PARTDINO_FUZZ`` is the number of examples of each test; 2,000 of each were tried.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
from segment_runs import DESCRIBING, flags

from partdino.errors import PartDinoError
from partdino.files import file_sha256
from partdino.options import read_config, validate
from partdino.parts.labelling import label_image
from partdino.parts.model_file import load_model
from partdino.runs.store import open_stores

FUZZ = int(os.environ.get("PARTDINO_FUZZ", "60"))
NUMBERS = st.one_of(
    st.integers(-(2**70), 2**70), st.floats(), st.sampled_from([0, 1, -1, 2**31, 2**63, 1e308])
)
ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, st.text(max_size=6)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)
ARRAYS = st_numpy.arrays(
    dtype=st.sampled_from(["float16", "float32", "float64", "int32", "int64", "uint8", "bool"]),
    shape=st_numpy.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5),
)
fuzz = settings(
    max_examples=FUZZ,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def places(document: object, at: tuple = ()) -> list[tuple]:
    """Return the paths of all values in a JSON document."""
    found = [at] if at else []
    keys = document if isinstance(document, dict) else ()
    keys = range(len(document[:2])) if isinstance(document, list) else keys
    return found + [place for key in keys for place in places(document[key], (*at, key))]


def put(document: object, place: tuple, value: object) -> None:
    for key in place[:-1]:
        document = document[key]
    document[place[-1]] = value


def in_one_line(action) -> bool:
    """Return whether an action went well; it may fail with one of our errors alone."""
    try:
        action()
    except PartDinoError as error:
        assert "\n" not in str(error)
        return False
    return True


@pytest.fixture(scope="module")
def described(partdino, photo_folder, tmp_path_factory) -> Path:
    """The features of two photos."""
    folder = tmp_path_factory.mktemp("fuzz")
    photos = folder / "photos"
    photos.mkdir()
    for name in ("animal_0000.jpg", "animal_0001.jpg"):
        shutil.copy(photo_folder / name, photos)
    options = flags(DESCRIBING)
    done = partdino("features", photos, "--out", folder / "store", *options)
    assert done.code == 0, done.stderr
    return folder / "store"


@pytest.fixture(scope="module")
def model(partdino, described, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("model") / "parts.safetensors"
    assert partdino("fit", described, "--out", out, "--parts", 3).code == 0
    return out


def use(store: Path, model: Path) -> None:
    """Read all of a store and label it."""
    opened, fitted = open_stores([store]), load_model(model)
    for key in opened.keys:
        opened.read(key, pixels=False)
        label_image("a.jpg", opened.read(key), fitted)


@fuzz
@given(data=st.data(), value=ANYTHING)
def test_model_fields(model, described, tmp_path, data, value):
    with safe_open(model, framework="numpy") as file:
        document = json.loads(file.metadata()["partdino"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    put(document, data.draw(st.sampled_from(places(document))), value)
    other = tmp_path / "other.safetensors"
    save_file(tensors, other, {"partdino": json.dumps(document)})
    in_one_line(lambda: use(described, other))


@fuzz
@given(data=st.data(), array=ARRAYS)
def test_model_tensors(model, described, tmp_path, data, array):
    with safe_open(model, framework="numpy") as file:
        metadata = file.metadata()
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    name = data.draw(st.sampled_from([*tensors, "another"]))
    other = tmp_path / "other.safetensors"
    save_file({**tensors, name: np.ascontiguousarray(array)}, other, metadata)
    in_one_line(lambda: use(described, other))


@fuzz
@given(data=st.data(), value=ANYTHING)
def test_store_headers_and_indexes(described, model, tmp_path, data, value):
    store = tmp_path / "store"
    shutil.copytree(described, store, dirs_exist_ok=True)
    files = ["store.json", *(f"blocks/{p.name}" for p in (store / "blocks").glob("*.json"))]
    file = store / data.draw(st.sampled_from(sorted(files)))
    document = json.loads(file.read_text())
    put(document, data.draw(st.sampled_from(places(document))), value)
    file.write_text(json.dumps(document))
    in_one_line(lambda: use(store, model))


@fuzz
@given(data=st.data(), array=ARRAYS)
def test_store_arrays_under_a_checksum_that_fits(described, model, tmp_path, data, array):
    store = tmp_path / "store"
    shutil.copytree(described, store, dirs_exist_ok=True)
    block = min((store / "blocks").glob("*.safetensors"))
    arrays = load_file(block)
    name = data.draw(st.sampled_from([*sorted(arrays), "0/inside", "0/sideless", "0/more"]))
    if data.draw(st.booleans()) and name in arrays and arrays[name].size:
        array = arrays[name].copy()  # of the right kind, one value wrong
        array.flat[data.draw(st.integers(0, array.size - 1))] = data.draw(
            st_numpy.from_dtype(array.dtype)
        )
    save_file({**arrays, name: np.ascontiguousarray(array)}, block)
    index = json.loads(block.with_suffix(".json").read_text())
    index |= {"sha256": file_sha256(block), "bytes": block.stat().st_size}
    block.with_suffix(".json").write_text(json.dumps(index))
    in_one_line(lambda: use(store, model))


@fuzz
@given(data=st.data())
def test_store_bytes(described, model, tmp_path, data):
    store = tmp_path / "store"
    shutil.copytree(described, store, dirs_exist_ok=True)
    files = [path for path in sorted(store.rglob("*")) if path.is_file() and path.stat().st_size]
    file = data.draw(st.sampled_from(files))
    content = bytearray(file.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    file.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    in_one_line(lambda: use(store, model))


@fuzz
@given(
    data=st.data(),
    value=st.one_of(ANYTHING, st.sampled_from(["auto", "none", "hed", "1e3", "../"])),
)
def test_configurations(tmp_path, data, value):
    names = [*vars(validate({})), "numbers", "another", "parts"]
    name = data.draw(st.sampled_from(names))
    content = {name: value}
    if name == "numbers" and data.draw(st.booleans()):
        content = {"numbers": {data.draw(st.sampled_from(["reach", "centring", "odd"])): value}}
    file = tmp_path / "config.yaml"
    file.write_text(yaml.safe_dump(content, allow_unicode=True))
    in_one_line(lambda: validate(read_config(file)))


@fuzz
@given(text=st.one_of(st.text(max_size=40), st.binary(max_size=40)))
def test_configurations_of_any_text(tmp_path, text):
    file = tmp_path / "config.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    in_one_line(lambda: validate(read_config(file)))


@pytest.mark.parametrize(
    ("name", "value"), [("reach", 1e18), ("strength", 1e-300), ("colour_width", 1e-9)]
)
def test_numbers_that_no_equation_bears_are_refused(name, value):
    with pytest.raises(PartDinoError, match=name):
        validate({"numbers": {name: value}})
