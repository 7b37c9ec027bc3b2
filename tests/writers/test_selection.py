from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from partdino.runs.writers.selection import Best, EvenSample


@settings(deadline=None, max_examples=60)
@given(length=st.integers(0, 400), capacity=st.integers(1, 9))
def test_even_sample_is_full_spread_and_bounded(length: int, capacity: int) -> None:
    made: list[int] = []
    sample: EvenSample[int] = EvenSample(capacity)
    for index in range(length):
        sample.offer(lambda index=index: made.append(index) or index)
        assert len(sample._items) <= 2 * capacity
    taken = sample.take()
    assert sample.seen == length
    assert len(taken) == min(length, capacity)
    if length <= capacity:
        assert taken == list(range(length))
    elif capacity > 1:
        gaps = np.diff([*taken, length])
        assert gaps[:-1].max() <= 2 * gaps[:-1].min()
        assert gaps[-1] <= 2 * gaps[:-1].max()


@settings(deadline=None, max_examples=60)
@given(scores=st.lists(st.integers(0, 9), max_size=60), capacity=st.integers(1, 9))
def test_best_equals_a_stable_sort(scores: list[int], capacity: int) -> None:
    best: Best[int] = Best(capacity)
    for index, score in enumerate(scores):
        best.offer(score, lambda index=index: index)
    expected = sorted(range(len(scores)), key=lambda index: -scores[index])[:capacity]
    assert best.take() == expected


def test_items_that_are_not_kept_are_not_made() -> None:
    made: list[int] = []
    best, sample = Best(2), EvenSample(2)
    for index in range(100):
        best.offer(-index, lambda index=index: made.append(index))
        sample.offer(lambda index=index: made.append(index))
    assert len(made) < 30
