"""A few axes that are many times as long as the others do not decide alone."""

from __future__ import annotations

import numpy as np
import pytest

from partdino.method import Method
from partdino.parts.axes import axis_weights
from partdino.parts.foreground import learn_again
from partdino.parts.projection import ObjectCells, fit_projection

LENGTHS = np.ones(40)
LENGTHS[:2] = 50.0  # of axes that tell nothing


def noise(rows: int = 600, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, len(LENGTHS)))


def test_axes_of_usual_lengths_stay_as_they_are():
    np.testing.assert_array_equal(axis_weights(np.linspace(0.5, 4, 20)), np.ones(20))


def test_a_massive_axis_is_scaled_to_the_longest_that_can_be():
    weights = axis_weights(LENGTHS**2, Method(longest_axis=2.0))
    np.testing.assert_allclose(weights * LENGTHS, np.minimum(LENGTHS, 2.0))


@pytest.mark.parametrize("variance", [np.zeros(3), np.array([0.0, 0.0, 1.0])])
def test_axes_without_spread_divide_by_nothing(variance):
    np.testing.assert_array_equal(axis_weights(variance), np.ones(3))


def test_kinds_are_told_apart_in_spite_of_massive_axes():
    features = noise()
    kind = np.arange(len(features)) % 2
    features[:, 5:25] += 2.0 * kind[:, None]
    cells = ObjectCells.whole(features * LENGTHS, np.ones(len(features)))

    def between(longest_axis: float) -> float:
        projection = fit_projection([cells], Method(longest_axis=longest_axis, dimensions=8))
        points = projection.points_of(cells)
        return float(points[kind == 0].mean(axis=0) @ points[kind == 1].mean(axis=0))

    assert between(3.0) < -0.3
    assert abs(between(1e6)) < 0.05


def test_the_foreground_is_learnt_in_spite_of_massive_axes():
    features, weak = noise(300), slice(5, 25)
    member = (np.arange(300) % 2).astype(float)
    features[:, weak] += 1.0 * member[:, None]
    more = noise(2000, seed=1)
    truth = np.arange(2000) % 2 > 0
    more[:, weak] += 1.0 * truth[:, None]

    def right(longest_axis: float) -> float:
        method = Method(longest_axis=longest_axis, foreground_penalty=25.0)
        model = learn_again(features * LENGTHS, member, np.ones(300), method)
        return float(((model.appearance(more * LENGTHS) > 0) == truth).mean())

    assert right(3.0) > right(1e6) + 0.02
