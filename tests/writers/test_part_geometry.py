from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from partdino.parts import result
from partdino.parts.result import part_geometry


def _brute_force(label_map: np.ndarray, part: int) -> tuple:
    ys, xs = np.nonzero(label_map == part)
    box = (xs.min(), ys.min(), np.ptp(xs) + 1, np.ptp(ys) + 1)
    return len(xs), (xs.mean() + 0.5, ys.mean() + 0.5), box


@settings(deadline=None, max_examples=50)
@given(hnp.arrays(np.uint8, st.tuples(*[st.integers(1, 9)] * 2), elements=st.integers(0, 5)))
def test_geometry_equals_brute_force(label_map: np.ndarray) -> None:
    parts = part_geometry(label_map, 5)
    assert [geometry.part for geometry in parts] == [p for p in range(1, 6) if p in label_map]
    for geometry in parts:
        area, centroid, box = _brute_force(label_map, geometry.part)
        assert geometry.area == area
        assert geometry.centroid == pytest.approx(centroid)
        assert geometry.box == box


def test_counting_in_blocks_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    label_map = np.random.default_rng(0).integers(0, 256, (23, 31), dtype=np.uint8)
    at_once = part_geometry(label_map, 255)
    monkeypatch.setattr(result, "_BLOCK_PIXELS", 100)
    assert part_geometry(label_map, 255) == at_once


def test_parts_of_a_result_are_those_of_its_label_map(make_result) -> None:
    made = make_result()
    assert made.parts == part_geometry(made.label_map, made.num_parts)
