"""Sequences that are read where they lie, and the database behind one."""

from __future__ import annotations

import pytest

from partdino.errors import OutputError
from partdino.long_lists import LongList
from partdino.scratch import Scratch


class Squares(LongList[int]):
    """Notes which places were read."""

    def __init__(self, length: int) -> None:
        super().__init__(length)
        self.read: list[int] = []

    def _read(self, places: range) -> list[int]:
        self.read.extend(places)
        return [place**2 for place in places]


def test_a_long_list_is_a_sequence_that_reads_what_is_asked_for():
    squares = Squares(2000)
    assert (len(squares), squares[3], squares[-1], squares.read) == (2000, 9, 1999**2, [3, 1999])
    part = squares[100:1500][-3:]
    assert list(part) == [1497**2, 1498**2, 1499**2] and part[0] == 1497**2
    assert list(squares) == [place**2 for place in range(2000)]
    assert list(squares[5:5]) == [] and not squares[2000:]


def test_what_a_long_list_has_not():
    for place in (2, -3):
        with pytest.raises(IndexError):
            Squares(2)[place]
    with pytest.raises(ValueError, match="without gaps"):
        Squares(9)[::2]


def test_a_disk_that_is_full_is_one_line_with_its_cure():
    scratch = Scratch("CREATE TABLE names (name TEXT)")
    scratch.rows("PRAGMA max_page_count = 4")
    with pytest.raises(OutputError, match=r"disk is full.*SQLITE_TMPDIR") as caught:
        scratch.change("INSERT INTO names VALUES (?)", ((f"{n:0100}",) for n in range(1000)))
    assert "\n" not in str(caught.value)
