"""Cutting a graph in two: every cut of a small graph is tried, and none is better."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from partdino.parts.graph_cut import cut_graph

NODES = 8


def worth(inside: np.ndarray, odds: np.ndarray, ends: np.ndarray, binding: np.ndarray) -> float:
    parted = inside[ends[0]] != inside[ends[1]]
    return odds[inside].sum() - binding[parted].sum()


def best(odds: np.ndarray, ends: np.ndarray, binding: np.ndarray) -> np.ndarray:
    every = (np.array(sides) for sides in product([False, True], repeat=len(odds)))
    return max(every, key=lambda inside: worth(inside, odds, ends, binding))


def graph(seed: int, spread: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    ends = np.array([(a, b) for a in range(NODES) for b in range(a) if rng.random() < 0.4]).T
    return rng.normal(size=NODES), ends, spread * rng.random(ends.shape[1])


@pytest.mark.parametrize("spread", [0.05, 0.5, 2.0])
@pytest.mark.parametrize("seed", range(10))
def test_no_cut_is_better(seed, spread):
    odds, ends, binding = graph(seed, spread)
    np.testing.assert_array_equal(cut_graph(odds, ends, binding), best(odds, ends, binding))


@pytest.mark.parametrize("seed", range(5))
def test_what_is_certain_stays_and_takes_others_along(seed):
    odds, ends, binding = graph(seed, 2.0)
    certain = odds.copy()
    certain[0], certain[1] = np.inf, -np.inf
    finite = np.clip(certain, -1e3, 1e3)
    found = cut_graph(certain, ends, binding)
    assert found[0] and not found[1]
    np.testing.assert_array_equal(found, best(finite, ends, binding))


def test_the_scale_of_the_numbers_does_not_matter():
    odds, ends, binding = graph(3, 0.5)
    expected = best(odds, ends, binding)
    for scale in (1e-9, 1e12):
        np.testing.assert_array_equal(cut_graph(scale * odds, ends, scale * binding), expected)


@pytest.mark.parametrize("ends", [np.zeros((2, 0), int), np.array([[0, 1], [1, 2]])])
def test_without_binding_each_goes_its_own_way(ends):
    odds = np.array([1.0, -1.0, 0.0])
    found = cut_graph(odds, ends, np.zeros(ends.shape[1]))
    assert found.tolist() == [True, False, False]


def test_of_cuts_that_are_worth_the_same_the_one_with_fewest_inside():
    chain = np.array([[0, 1], [1, 2]])
    found = cut_graph(np.array([2.0, 0.0, -2.0]), chain, np.array([1.0, 1.0]))
    assert found.tolist() == [True, False, False]


def test_thousands_of_nodes_with_huge_odds():
    side = 60
    node = np.arange(side**2).reshape(side, side)
    across = np.stack([node[:, :-1].ravel(), node[:, 1:].ravel()])
    down = np.stack([node[:-1].ravel(), node[1:].ravel()])
    ends = np.concatenate([across, down], axis=1)
    odds = np.where(node % side < side // 2, 1e5, -1e5).ravel()
    odds[node[10, 10]] = -1.0  # a speck that its neighbours outweigh
    found = cut_graph(odds, ends, np.ones(ends.shape[1])).reshape(side, side)
    assert found[:, : side // 2].all() and not found[:, side // 2 :].any()
