"""The mapping of deep values to 8 bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from partdino.images.depth import display_range, to_uint8


@pytest.mark.parametrize(
    ("high", "white"),
    [(0, 255), (255, 255), (256, 1023), (1024, 4095), (4095, 4095), (4096, 16383), (65535, 65535)],
)
def test_integers_use_the_smallest_sensor_depth(high, white):
    for dtype in (np.uint16, np.int32):
        assert display_range(np.full((8, 8, 1), high, dtype)) == (0, white)


def test_one_hot_pixel_does_not_darken_the_image():
    values = np.random.default_rng(0).integers(0, 4096, (64, 64, 1)).astype(np.uint16)
    values[3, 4] = 65535
    assert display_range(values) == (0, 4095)
    assert to_uint8(values, 0, 4095)[3, 4] == 255


def test_floats():
    ramp = np.linspace(0, 1, 10_000).reshape(100, 100, 1)
    assert display_range(ramp) == (0, 1)
    assert display_range(ramp * 0.1) == (0, 1)
    assert display_range(ramp * 0.01) == pytest.approx((0, 0.01), abs=1e-4)
    assert display_range(ramp * 9 - 4) == pytest.approx((-4, 5), abs=0.02)
    assert display_range(np.full((4, 4, 1), np.nan)) == (0, 1)
    for value in (0.0, 7.5, -1e12):
        constant = np.full((4, 4, 1), value)
        assert not to_uint8(constant, *display_range(constant)).any()


def test_black_above_white_inverts():
    values = np.array([0, 100, 255], np.uint16)
    np.testing.assert_array_equal(to_uint8(values, 255, 0), [255, 155, 0])


INTEGERS = st.sampled_from([np.uint8, np.uint16, np.int16, np.uint32])
FLOATS = st.floats(-1e100, 1e100) | st.sampled_from([np.nan, np.inf, -np.inf])
SHAPES = arrays.array_shapes(min_dims=3, max_dims=3, max_side=5)
VALUES = arrays.arrays(INTEGERS, SHAPES) | arrays.arrays(np.float64, SHAPES, elements=FLOATS)


@settings(deadline=None, max_examples=60)
@given(VALUES)
def test_any_values_map_in_order_into_8_bits(values):
    black, white = display_range(values)
    assert black < white
    mapped = to_uint8(values, black, white)
    assert mapped.dtype == np.uint8 and mapped.shape == values.shape
    order = np.argsort(values, axis=None, kind="stable")
    order = order[np.isfinite(values.ravel()[order])]
    assert (np.diff(mapped.ravel()[order].astype(int)) >= 0).all()
