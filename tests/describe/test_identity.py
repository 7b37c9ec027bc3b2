"""What makes two descriptions the same, and what the numbers of the method decide."""

from __future__ import annotations

import shutil
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import partdino
from partdino.describe.identity import (
    code_sha256,
    describing_code_sha256,
    describing_identity,
    image_key,
)
from partdino.describe.settling import settled_of
from partdino.errors import ConfigError
from partdino.method import DEFAULT_METHOD, METHOD_OF_0_1, Method
from partdino.options import Options, SettledOptions, validate

PACKAGES = ("images", "describe")


def settled(**given: object) -> SettledOptions:
    """Return options as if all were settled."""
    return settled_of(Options(**{"device": "cpu", "precision": "fp32", **given}))


ON_CPU = settled()


def identity(options: SettledOptions = ON_CPU, weights: str = "w", code: str = "c"):
    return describing_identity(options.values(), options.numbers.describing, weights, code)


@pytest.fixture
def code(tmp_path) -> Path:
    """A copy of the code that describes."""
    root = Path(partdino.__file__).parent
    for package in PACKAGES:
        shutil.copytree(root / package, tmp_path / package)
    return tmp_path


def test_the_hash_is_that_of_the_packages(code):
    assert code_sha256(code, PACKAGES) == describing_code_sha256(ON_CPU)


@pytest.mark.parametrize("package", ["images", "describe", "describe/regions", "describe/new"])
def test_a_new_module_changes_the_hash_of_the_code(code, package):
    (code / package).mkdir(exist_ok=True)
    (code / package / "new.py").write_text("")
    assert code_sha256(code, PACKAGES) != describing_code_sha256(ON_CPU)


def test_a_changed_or_renamed_module_changes_the_hash_of_the_code(code):
    module = code / "describe" / "pooling.py"
    module.rename(module.with_name("averaging.py"))
    renamed = code_sha256(code, PACKAGES)
    module.write_text(module.with_name("averaging.py").read_text() + "\n")
    assert len({renamed, code_sha256(code, PACKAGES), describing_code_sha256(ON_CPU)}) == 3


@pytest.mark.parametrize(
    "other",
    [
        {"regions": "slic"},
        {"image_size": 320},
        {"precision": "bf16"},
        {"symmetry": "apart"},
        {"device": "cuda"},
        {"masks": Path("masks"), "foreground": "masks"},
    ],
)
def test_what_decides_descriptions(other):
    assert identity(settled(**other)) != identity()


@pytest.mark.parametrize(
    "other", [{"parts": 4}, {"seed": 1}, {"fit_on": "all"}, {"workers": 3}, {"batch_size": 2}]
)
def test_what_does_not_decide_descriptions(other):
    assert identity(settled(**other)) == identity()


def test_the_same_kind_of_device_the_same_numerics():
    first, second = (identity(settled(device=device)) for device in ("cuda:0", "cuda:1"))
    assert first == second


def test_weights_and_code_decide_descriptions():
    assert identity(weights="other") != identity() != identity(code="other")


@pytest.mark.parametrize("name", [field.name for field in fields(Method)])
def test_numbers_decide_descriptions_only_where_they_say_so(name):
    other = replace(DEFAULT_METHOD, **{name: getattr(DEFAULT_METHOD, name) / 2})
    changed = identity(settled(numbers=other)) != identity()
    assert changed == (name in DEFAULT_METHOD.describing)


def test_a_corrected_mask_is_another_version(tmp_path):
    keys = [image_key("a/bird.jpg", "1 2", tmp_path)]
    (tmp_path / "a").mkdir()
    for shade in (0, 255):
        Image.fromarray(np.full((4, 4 + shade), shade, np.uint8)).save(tmp_path / "a" / "bird.png")
        keys.append(image_key("a/bird.jpg", "1 2", tmp_path))
    keys.append(image_key("a/bird.jpg", "1 2"))
    assert len(set(keys)) == 4
    assert image_key("a/bird.jpg", "1 2", tmp_path) == keys[2]


def test_version_0_1_had_every_number_and_found_the_foreground_without_rounds():
    of_clustering = {"codebooks", "codebook", "codebook_per_part", "codebook_cells"}
    of_labelling = {"centroids", "centroids_per_part"}
    other = {"foreground_rounds", "longest_axis", "border_blur", *of_labelling, *of_clustering}
    assert set(Method(**METHOD_OF_0_1).changed) == other
    assert METHOD_OF_0_1["foreground_rounds"] == 0
    assert list(METHOD_OF_0_1) == list(DEFAULT_METHOD.values)


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ({"reach": -1}, "numbers.reach"),
        ({"centring": 2}, "numbers.centring"),
        ({"lattice": "many"}, "numbers.lattice"),
        ({"strength": float("nan")}, "numbers.strength"),
        ({"unheard": 1}, "numbers.unheard"),
        ([1], "numbers"),
    ],
)
def test_numbers_are_checked(numbers, words):
    with pytest.raises(ConfigError, match=words):
        validate({"numbers": numbers})
