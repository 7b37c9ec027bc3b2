"""Sequences of millions of items that are read where they lie, a few at a time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any, TypeVar, overload

import numpy as np

T = TypeVar("T")

_AT_ONCE = 512  # items


class LongList(Sequence[T]):
    """Items that are made anew whenever they are asked for; so is what a slice of it holds.

    Parameters
    ----------
    length
        How many there are.
    """

    def __init__(self, length: int) -> None:
        self._span = range(length)

    @abstractmethod
    def _read(self, places: range) -> Sequence[T]:
        """Return consecutive items."""

    def __len__(self) -> int:
        return len(self._span)

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> LongList[T]: ...

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            part = copy(self)
            part._span = self._span[index]
            if part._span.step != 1:
                raise ValueError("a long list is cut into pieces without gaps")
            return part
        place = self._span[index]
        return self._read(range(place, place + 1))[0]

    def __iter__(self) -> Iterator[T]:
        for start in range(0, len(self._span), _AT_ONCE):
            yield from self._read(self._span[start : start + _AT_ONCE])


class Picked(LongList[T]):
    """Some items of a sequence.

    Parameters
    ----------
    items
        The sequence.
    places : (N,) int array
        Which of them, ascending.
    """

    def __init__(self, items: Sequence[T], places: np.ndarray) -> None:
        super().__init__(len(places))
        self._items, self._places = items, places

    def _read(self, places: range) -> list[T]:
        chosen = self._places[places.start : places.stop]
        found: list[T] = []
        for run in np.split(chosen, np.flatnonzero(np.diff(chosen) != 1) + 1):
            if len(run):
                found += self._items[int(run[0]) : int(run[-1]) + 1]
        return found
