"""Taking some of many, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")


def evenly_spaced(items: Sequence[T], limit: int | None) -> Sequence[T]:
    """Return at most `limit` of the items, spread evenly; None is no limit."""
    if limit is None or len(items) <= limit:
        return items
    return [items[index * len(items) // limit] for index in range(limit)]


def some_of(count: int, limit: int, rng: np.random.Generator) -> np.ndarray:
    """Return int (min(count, limit),), which of so many things to take: at random, in their order.

    With the same limit for every image, each gives its equal share to a sample.
    """
    if count <= limit:
        return np.arange(count)
    return np.sort(rng.choice(count, limit, replace=False))
