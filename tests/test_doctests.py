"""Every example in a docstring of the package runs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import numpy as np
import pytest

import partdino

MODULES = [
    module.name
    for module in pkgutil.walk_packages(partdino.__path__, "partdino.")
    if module.name not in ("partdino.__main__", "partdino.engine.ray_workers")
]
# What a reader is promised an example of.
STAGES = (
    *("describe.features.extraction", "describe.boundaries", "describe.regions"),
    *("describe.regions.cells", "describe.pooling", "describe.contrast", "parts.foreground"),
    *("parts.smoothing", "parts.codebook", "parts.label_map", "estimator"),
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    result = doctest.testmod(importlib.import_module(name), extraglobs={"np": np})
    assert result.failed == 0


@pytest.mark.parametrize("name", STAGES)
def test_every_stage_has_an_example(name):
    module = importlib.import_module(f"partdino.{name}")
    assert doctest.testmod(module, extraglobs={"np": np}).attempted > 0
