"""The examples in the docstrings run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import numpy as np
import pytest

import partdino.metrics
from partdino.evaluation.scoring import label_maps

MODULES = [
    importlib.import_module(f"partdino.metrics.{module.name}")
    for module in pkgutil.iter_modules(partdino.metrics.__path__)
]


@pytest.mark.parametrize("module", [*MODULES, label_maps], ids=lambda module: module.__name__)
def test_examples(module):
    result = doctest.testmod(module, extraglobs={"np": np})
    assert result.attempted > 0
    assert result.failed == 0
