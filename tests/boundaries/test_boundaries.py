"""Choosing and calling a boundary detector."""

from __future__ import annotations

import numpy as np
import pytest

from partdino.describe import weights
from partdino.describe.boundaries import METHODS, detect_boundaries, resolve_boundaries
from partdino.errors import ConfigError, WeightsError

IMAGE = np.zeros((32, 40, 3), np.uint8)


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PARTDINO_CACHE", str(tmp_path))


def test_auto_is_hed_where_its_weights_are(tmp_path, empty_cache):
    method, reason = resolve_boundaries("auto")
    assert method == "gradient" and "partdino weights pull hed" in reason
    weights.CATALOGUE["hed"].cached_file.write_bytes(b"")
    assert resolve_boundaries("auto")[0] == "hed"


@pytest.mark.parametrize("method", METHODS)
def test_a_choice_is_kept(method, empty_cache):
    assert resolve_boundaries(method)[0] == method


def test_hed_without_weights_names_the_cure(empty_cache):
    with pytest.raises(WeightsError, match="partdino weights pull hed"):
        detect_boundaries(IMAGE, "hed")


def test_damaged_hed_weights_are_named(empty_cache):
    file = weights.CATALOGUE["hed"].cached_file
    file.write_bytes(b"half")
    with pytest.raises(WeightsError, match=f"{file} is damaged"):
        detect_boundaries(IMAGE, "hed")


@pytest.mark.parametrize("call", [lambda m: detect_boundaries(IMAGE, m), resolve_boundaries])
def test_an_unknown_method_is_refused(call):
    with pytest.raises(ConfigError, match=r"'canny'.*hed, gradient"):
        call("canny")


@pytest.mark.parametrize("image", [IMAGE[..., 0], IMAGE[..., :2], IMAGE.astype(np.float32)])
def test_an_image_of_another_layout_is_refused(image):
    with pytest.raises(ValueError, match="expected uint8"):
        detect_boundaries(image, "gradient")
