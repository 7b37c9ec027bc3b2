"""Stages of installed packages on the command line, and of one's own in the library."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from sklearn.base import clone

from partdino import PartDiscovery, detect_boundaries, make_regions, plugins
from partdino.errors import ConfigError

SMALL = ("--parts", "3", "--region-size", "96", "--workers", "2", "--device", "cpu", "--quiet")


def test_stages_of_an_installed_package_by_name(run, photo_folder, tmp_path):
    stages = ("--boundaries", "brightness", "--regions", "quarters", "--backbone", "colours")
    done = run("segment", photo_folder, "--out", tmp_path / "out", *SMALL, *stages)
    assert (done.returncode, done.stderr) == (0, "")
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert [record["options"][name] for name in ("boundaries", "regions", "backbone")] == [
        "brightness",
        "quarters",
        "colours",
    ]
    assert record["weights"]["source"] == "plugin:colours"
    model = tmp_path / "out" / "parts.safetensors"
    more = run("segment", photo_folder, "--model", model, "--out", tmp_path / "more", "--quiet")
    assert (more.returncode, more.stderr) == (0, "")
    for name in sorted((tmp_path / "out" / "labels").iterdir()):
        assert name.read_bytes() == (tmp_path / "more" / "labels" / name.name).read_bytes()


@pytest.mark.parametrize(
    ("option", "name", "words"),
    [
        ("regions", "hexagons", ("unknown region method 'hexagons'", "slic", "quarters")),
        ("boundaries", "canny", ("unknown boundary detector 'canny'", "hed", "brightness")),
        ("regions", "missing", ("'missing' of partdino-example 1.0 cannot be loaded", "nothing")),
        ("boundaries", "no_module:function", ("no_module:function cannot be imported",)),
        ("backbone", "broken_stages:flat_features", ("flat_features' returned (4, 4)",)),
        ("backbone", "broken_stages:infinite_features", ("finite numbers",)),
        ("boundaries", "broken_stages:nan_map", ("nan_map' returned", "in 0..1 a pixel")),
        ("boundaries", "broken_stages:bright_map", ("bright_map' returned", "in 0..1 a pixel")),
        ("boundaries", "broken_stages:small_map", ("returned (3, 3)",)),
        ("regions", "broken_stages:float_regions", ("returned float64", "whole numbers")),
        ("regions", "broken_stages:failing_regions", ("RuntimeError: out of cheese",)),
    ],
)
def test_what_is_wrong_with_a_stage_is_told_in_one_line(
    run, photo_folder, tmp_path, option, name, words
):
    photo = photo_folder / "animal_0000.jpg"
    base = {"boundaries": "gradient", "backbone": "efficientnet-lite2", option: name}
    flags = [text for key, value in base.items() for text in (f"--{key}", value)]
    done = run("segment", photo, "--out", tmp_path / "out", *SMALL, *flags, "--image-size", 96)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: ")
    for word in words:
        assert word in done.stderr


def steps(image: np.ndarray) -> np.ndarray:
    """A boundary detector of one's own."""
    return np.abs(np.gradient(image.mean(axis=2)))[0] / 255


def colours(image: np.ndarray) -> np.ndarray:
    """Features of one's own: every 8th pixel."""
    return image[4::8, 4::8].astype(np.float32) + 1


colours.patch_size = 8
colours.default_image_size = 96


def stripes(image: np.ndarray, boundary_map: np.ndarray | None) -> np.ndarray:
    """A region method of one's own."""
    return np.indices(image.shape[:2])[1] // 8


def small(**given: object) -> PartDiscovery:
    return PartDiscovery(
        **{"parts": 3, "region_size": 96, "device": "cpu", "foreground": "none", **given}
    )


@pytest.mark.parametrize("workers", [0, 2])
def test_functions_of_a_module(photo_folder, tmp_path, workers, monkeypatch):
    monkeypatch.setitem(sys.modules, "own_stages", sys.modules[__name__])
    own = {"boundaries": steps, "regions": stripes, "backbone": colours}
    discovery = small(workers=0, **own)
    assert clone(discovery).get_params() == discovery.get_params()
    results = discovery.fit_predict(photo_folder)
    assert discovery.options_.regions == f"{__name__}:stripes"
    discovery.save(tmp_path / "m.safetensors")
    again = PartDiscovery.load(tmp_path / "m.safetensors", workers=0).predict(photo_folder)
    for result, other in zip(results, again, strict=True):
        np.testing.assert_array_equal(result.label_map, other.label_map)


def test_a_function_without_a_module_needs_no_workers(photo_folder, tmp_path):
    local = small(regions=lambda image, _: np.indices(image.shape[:2])[0] // 8, backbone=colours)
    with pytest.raises(ConfigError, match="workers=0"):
        local.set_params(workers=2).fit(photo_folder)
    local.set_params(workers=0).fit(photo_folder)
    assert len(local.predict(photo_folder)) == 8


def test_the_source_of_a_function_is_part_of_the_identity():
    names = [plugins.refer("regions", function) for function in (stripes, steps)]
    assert len({plugins.identity("regions", name) for name in names}) == 2
    assert plugins.identity("regions", names[0]) == plugins.identity("regions", names[0])


def test_stages_take_functions():
    image = np.zeros((32, 40, 3), np.uint8)
    image[:, 20:] = 200
    boundary_map = detect_boundaries(image, steps)
    assert boundary_map.dtype == np.float32 and boundary_map.shape == (32, 40)
    assert make_regions(image, None, stripes).max() == 4
    with pytest.raises(ConfigError, match="is no function"):
        plugins.refer("regions", np.zeros(3))
