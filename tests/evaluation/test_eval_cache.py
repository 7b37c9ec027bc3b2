"""Descriptions are made once; whatever changes them makes them anew."""

from __future__ import annotations

import os
import shutil

import pytest

from partdino.evaluation.methods import describing


@pytest.fixture
def described(monkeypatch) -> list[str]:
    """Names of the images that are described from here on."""
    names: list[str] = []
    describe_images = describing.describe_images

    def counting(sources, *rest, **named):
        def counted():
            for source in sources:
                names.append(source.name)
                yield source

        return describe_images(counted(), *rest, **named)

    monkeypatch.setattr(describing, "describe_images", counting)
    return names


@pytest.fixture
def arguments(cub_root, tmp_path):
    return ("cub", cub_root, "--seeds", 1, "--cache", tmp_path / "cache")


def test_another_k_seed_or_method_costs_no_description(evaluate, arguments, described):
    first = evaluate(*arguments, "--parts", 4)
    assert len(described) == len(set(described)) == 16
    described.clear()
    again = evaluate(*arguments, "--parts", 4)
    assert again["scores"] == first["scores"]
    evaluate(*arguments[:2], *arguments[4:], "--parts", 2, 8, "--seeds", 2, "--method", "all")
    assert described == []


def test_a_deleted_cache_is_made_again(evaluate, arguments, described):
    first = evaluate(*arguments, "--parts", 4)
    shutil.rmtree(arguments[-1])
    assert evaluate(*arguments, "--parts", 4)["scores"] == first["scores"]
    assert len(described) == 32


@pytest.mark.parametrize(
    "change", [("--region-scale", 20), ("--image-size", 160), ("--min-region", 12)]
)
def test_other_settings_are_described_anew(evaluate, arguments, described, change):
    evaluate(*arguments, "--parts", 2, "--limit", 2)
    described.clear()
    evaluate(*arguments, "--parts", 2, "--limit", 2, "--seeds", 1, *change)
    assert len(described) == 4


@pytest.mark.parametrize("change", [("--foreground", "none"), ("--fit-on", "all")])
def test_other_options_of_the_fit_are_not(evaluate, arguments, described, change):
    evaluate(*arguments, "--parts", 2)
    described.clear()
    evaluate(*arguments, "--parts", 2, *change)
    assert described == []


def test_a_true_foreground_is_described_anew(evaluate, coco_root, tmp_path, described):
    arguments = ("coco-parts", coco_root, "--parts", 2, "--seeds", 1, "--cache", tmp_path)
    evaluate(*arguments)
    described.clear()
    evaluate(*arguments, "--foreground", "ground-truth")
    assert len(described) == 12


def test_only_a_changed_image_is_described_anew(evaluate, cub_root, tmp_path, described):
    root = shutil.copytree(cub_root, tmp_path / "cub")
    arguments = ("cub", root, "--parts", 2, "--seeds", 1, "--cache", tmp_path / "cache")
    evaluate(*arguments)
    described.clear()
    changed = sorted((root / "images").rglob("*.jpg"))[0]
    os.utime(changed, ns=(1, 1))
    evaluate(*arguments)
    assert described == [changed.relative_to(root / "images").as_posix()]


def test_a_killed_run_goes_on_where_it_was(evaluate, arguments, described, monkeypatch):
    whole = evaluate(*arguments, "--parts", 4, "--cache", arguments[-1].with_name("other"))
    described.clear()
    describe_images = describing.describe_images

    def killed(sources, *rest, **named):
        for number, outcome in enumerate(describe_images(sources, *rest, **named)):
            if number == 5:
                raise KeyboardInterrupt
            yield outcome

    with monkeypatch.context() as patched:
        patched.setattr(describing, "describe_images", killed)
        evaluate(*arguments, "--parts", 4, code=130)
    described.clear()
    assert evaluate(*arguments, "--parts", 4)["scores"] == whole["scores"]
    assert len(described) == 11


@pytest.mark.parametrize(("fit_on", "number"), [("sample", 9), ("all", 12)])
def test_what_no_model_is_fitted_on_is_not_described(
    evaluate, coco_root, tmp_path, described, monkeypatch, fit_on, number
):
    monkeypatch.setattr("partdino.evaluation.run.MAX_IMAGES", 3)
    arguments = ("coco-parts", coco_root, "--parts", 2, "--seeds", 1, "--cache", tmp_path)
    evaluate(*arguments, "--fit-on", fit_on)
    assert len(described) == number
