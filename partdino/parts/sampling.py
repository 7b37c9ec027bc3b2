"""Taking some of many, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def spread(items: Sequence[T], limit: int | None) -> Sequence[T]:
    """Return at most `limit` of the items, spread evenly; None is no limit."""
    if limit is None or len(items) <= limit:
        return items
    return [items[index * len(items) // limit] for index in range(limit)]
