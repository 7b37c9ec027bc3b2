"""Entropy and confidence of the soft assignment."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import entropy

from partdino.evaluation.study.assignment import confidence, normalised_entropy, soft_assignment

COSINES = np.random.default_rng(0).uniform(-1, 1, (50, 6))


def test_the_extremes():
    equal, certain = np.full(4, 0.25), np.array([0.0, 1, 0, 0])
    assert (normalised_entropy(equal), confidence(equal)) == (pytest.approx(1), 0.25)
    assert (normalised_entropy(certain), confidence(certain)) == (0, 1)


def test_against_scipy():
    probabilities = soft_assignment(COSINES, 0.1)
    assert probabilities.sum(axis=1) == pytest.approx(1)
    expected = entropy(probabilities, base=6, axis=1)
    np.testing.assert_allclose(normalised_entropy(probabilities), expected)


def test_a_cosine_lower_by_the_temperature_counts_1_over_e():
    first, second = soft_assignment(np.array([0.5, 0.3]), 0.2)
    assert second / first == pytest.approx(np.exp(-1))


def test_a_higher_temperature_is_less_decided():
    sure, unsure = (soft_assignment(COSINES, temperature) for temperature in (0.05, 0.2))
    assert (normalised_entropy(sure) < normalised_entropy(unsure)).all()
    assert (confidence(sure) > confidence(unsure)).all()
