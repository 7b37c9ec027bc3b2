"""Boundary pixels, the band around them, and the boundary F-score."""

from __future__ import annotations

import numpy as np
import pytest

from partdino.metrics import (
    boundary_band,
    boundary_counts,
    boundary_f_score,
    part_boundary,
)


def halves(column: int, size: int = 40) -> np.ndarray:
    """Two parts that meet left of ``column``."""
    labels = np.ones((size, size), np.uint8)
    labels[:, column:] = 2
    return labels


def test_boundary_is_both_sides_of_a_change():
    columns = np.flatnonzero(part_boundary(halves(20)).any(axis=0))
    np.testing.assert_array_equal(columns, [19, 20])


def test_band_is_as_wide_as_asked_on_either_side():
    columns = np.flatnonzero(boundary_band(halves(20), width=5).all(axis=0))
    np.testing.assert_array_equal(columns, np.arange(15, 25))


def test_invalid_pixels_make_no_boundary_and_are_in_no_band():
    labels = halves(20)
    valid = labels == 1
    assert not part_boundary(labels, valid).any()
    valid = np.ones_like(valid)
    valid[:5] = False
    band = boundary_band(labels, 5, valid)
    assert band[5:].any() and not band[:5].any()


def test_an_image_without_boundary_has_no_band():
    assert not boundary_band(np.ones((6, 6), int)).any()


@pytest.mark.parametrize(("shift", "expected"), [(0, 1.0), (2, 1.0), (3, 0.5), (9, 0.0)])
def test_f_score_forgives_up_to_the_tolerance(shift, expected):
    counts = boundary_counts(halves(20), halves(20 + shift), tolerance=2)
    assert boundary_f_score(counts) == expected


def test_which_part_is_which_does_not_matter():
    counts = boundary_counts(halves(20), 7 - halves(20), tolerance=1)
    assert boundary_f_score(counts) == 1.0


def test_nothing_found_where_nothing_is_is_perfect_and_else_worthless():
    flat = np.zeros((40, 40), int)
    assert boundary_f_score(boundary_counts(flat, flat, 2)) == 1.0
    assert boundary_f_score(boundary_counts(flat, halves(20), 2)) == 0.0
    assert boundary_f_score(boundary_counts(halves(20), flat, 2)) == 0.0
    assert boundary_f_score(np.zeros(4, np.int64)) == 1.0
