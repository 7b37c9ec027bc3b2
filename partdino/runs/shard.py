"""A run cut into shares that run apart from each other, such as the tasks of a batch scheduler."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from partdino.errors import ConfigError, StoreError

T = TypeVar("T")


@dataclass(frozen=True)
class Shard:
    """The `number`-th of `count` shares, counted from 1; written ``2/4``."""

    number: int = 1
    count: int = 1

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read ``i/n``; raises `ConfigError`."""
        match = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
        number, count = map(int, match.groups()) if match else (0, 0)
        if not 1 <= number <= count:
            raise ConfigError(f"--shard {text}: pass i/n with i from 1 to n, such as 1/4")
        return cls(number, count)

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def share(self, items: Sequence[T]) -> Sequence[T]:
        """Return this shard's items: one after the other, all shares are the whole."""
        start, stop = ((self.number + step) * len(items) // self.count for step in (-1, 0))
        return items[start:stop]


WHOLE = Shard()


def check_complete(shards: Iterable[tuple[str, Shard]]) -> None:
    """Check that shards make up one whole.

    Parameters
    ----------
    shards
        Where each shard lies, and which one it is.

    Raises
    ------
    StoreError
        One is missing, twice there, or of another number of shards; or there is none.
    """
    found: dict[int, str] = {}
    shards = list(shards)
    if not shards:
        raise StoreError("there is no shard; name the folders of all of them")
    first, one = shards[0]
    for place, shard in shards:
        if shard.count != one.count:
            raise StoreError(f"{first} is shard {one} and {place} is shard {shard}")
        if shard.number in found:
            raise StoreError(f"{found[shard.number]} and {place} are both shard {shard}")
        found[shard.number] = place
    count = one.count
    missing = [f"{number}/{count}" for number in range(1, count + 1) if number not in found]
    if missing:
        raise StoreError(f"{first} is one of {count} shards; add shard {', '.join(missing)}")
