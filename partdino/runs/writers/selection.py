"""What to keep of a stream of any length in bounded memory, the same for the same stream."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class EvenSample(Generic[T]):
    """Items spread evenly over a stream whose length is not known beforehand.

    Every ``stride``-th item is kept; when twice the capacity is reached, every second one is
    dropped and the stride doubles.

    Parameters
    ----------
    capacity
        The most items to take in the end; at most twice as many are held.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._items: list[T] = []
        self._stride = 1
        self.seen = 0

    def offer(self, make: Callable[[], T]) -> None:
        """See the next item; ``make`` is called only if it is kept."""
        if self.seen % self._stride == 0:
            if len(self._items) == 2 * self._capacity:
                self._items = self._items[::2]
                self._stride *= 2
            self._items.append(make())
        self.seen += 1

    def take(self) -> list[T]:
        """Return the sample in the order of the stream: all items while they are few."""
        count = min(self._capacity, len(self._items))
        return [self._items[index * len(self._items) // count] for index in range(count)]


class Best(Generic[T]):
    """The items of a stream with the highest scores; of equal ones the earlier.

    Parameters
    ----------
    capacity
        The most items to hold.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._heap: list[tuple[float, int, T]] = []  # the worst one first
        self.seen = 0

    def offer(self, score: float, make: Callable[[], T]) -> None:
        """See the next item; ``make`` is called only if it is kept."""
        key = (score, -self.seen)  # unique, so that items themselves are never compared
        self.seen += 1
        if len(self._heap) < self._capacity:
            heapq.heappush(self._heap, (*key, make()))
        elif key > self._heap[0][:2]:
            heapq.heapreplace(self._heap, (*key, make()))

    def take(self) -> list[T]:
        """Return the items, best first."""
        return [item for _, _, item in sorted(self._heap, key=lambda kept: kept[:2], reverse=True)]
