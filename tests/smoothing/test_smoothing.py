"""Smoothing over the graph of cells: what spreads, how far, and what stops it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partdino.parts.smoothing import smooth


def chain(strength):
    """A row of cells, each border as long as the others, with the given boundary strengths."""
    count = len(strength) + 1
    edges = np.stack([np.arange(count - 1), np.arange(1, count)], axis=1).astype(np.int32)
    graph = edges, np.full(count - 1, 10, np.int32), np.asarray(strength, np.float32)
    return graph, np.ones(count, bool)


def test_features_become_alike_inside_and_stay_apart_across_a_boundary():
    graph, foreground = chain([0, 0, 0, 3, 0, 0, 0])
    rng = np.random.default_rng(0)
    features = np.repeat([0.0, 1.0], 4)[:, None] + 0.3 * rng.normal(size=(8, 1))
    smoothed = smooth(features, *graph, foreground)[:, 0]
    assert np.ptp(smoothed[:4]) < 0.2 * np.ptp(features[:4])
    assert np.ptp(smoothed[4:]) < 0.2 * np.ptp(features[4:])
    assert smoothed[4:].min() - smoothed[:4].max() > 0.5


def test_the_stronger_the_boundary_the_less_passes():
    gaps = []
    for strength in (0, 0.3, 0.6, 1.0):
        graph, foreground = chain([strength])
        smoothed = smooth(np.array([[0.0], [1.0]]), *graph, foreground)
        gaps.append(smoothed[1, 0] - smoothed[0, 0])
    assert gaps == sorted(gaps) and gaps[0] < 0.05 < 0.1 < gaps[-1]


def test_nothing_passes_between_object_and_background():
    graph, foreground = chain([0, 0, 0])
    foreground[2:] = False
    smoothed = smooth(np.array([[1.0], [1.0], [0.0], [0.0]]), *graph, foreground)
    np.testing.assert_allclose(smoothed[:, 0], [1, 1, 0, 0], atol=1e-6)


def test_a_single_cell_keeps_its_feature():
    none = np.zeros((0, 2), np.int32), np.zeros(0, np.int32), np.zeros(0, np.float32)
    features = np.array([[1.0, 2.0]])
    np.testing.assert_allclose(smooth(features, *none, np.ones(1, bool)), features)


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10_000), count=st.integers(2, 30))
def test_the_energy_is_least_and_the_range_and_the_weighted_mean_are_kept(seed, count):
    rng = np.random.default_rng(seed)
    pairs = np.array([(i, j) for i in range(count) for j in range(i + 1, count)], np.int32)
    edges = pairs[rng.random(len(pairs)) < 0.5]
    length = rng.integers(1, 40, len(edges)).astype(np.int32)
    strength = rng.random(len(edges)).astype(np.float16)
    features = rng.normal(size=(count, 3))
    smoothed = smooth(features, edges, length, strength, np.ones(count, bool)).astype(float)
    assert (smoothed <= features.max(axis=0) + 1e-5).all()
    assert (smoothed >= features.min(axis=0) - 1e-5).all()
    own = np.bincount(edges.ravel(), np.repeat(length, 2), count)
    own[own == 0] = 1
    np.testing.assert_allclose(own @ smoothed, own @ features, rtol=1e-3, atol=1e-2)

    def energy(values):
        jump = ((values[edges[:, 0]] - values[edges[:, 1]]) ** 2).sum(axis=1)
        binding = 40 * length * np.exp(-strength.astype(float) / 0.4)
        return own @ ((values - features) ** 2).sum(axis=1) + binding @ jump

    for _ in range(3):
        assert energy(smoothed) <= energy(smoothed + 0.05 * rng.normal(size=smoothed.shape))


@pytest.mark.parametrize("scale", [1, 50])
def test_the_resolution_of_the_borders_does_not_matter(scale):
    graph, foreground = chain([0.1, 0.5, 0.0])
    edges, length, strength = graph
    features = np.arange(4.0)[:, None]
    expected = smooth(features, *graph, foreground)
    other = smooth(features, edges, scale * length, strength, foreground)
    np.testing.assert_allclose(other, expected, rtol=1e-5)
