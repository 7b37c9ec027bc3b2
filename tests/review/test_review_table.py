"""The table of the review: what was measured, said, and told by the user."""

from __future__ import annotations

import pytest
from review_runs import NAMES, SHA256

from partdino.runs.measures.user_table import Joined
from partdino.runs.review import PartReview, Review, Split
from partdino.runs.review.finished import IndexedRun
from partdino.runs.review.objects import ObjectCounts
from partdino.runs.review.summary import PartsOfPhotos
from partdino.runs.review.table import photo_table


def test_it_follows_the_review(run: IndexedRun):
    review = Review(
        SHA256,
        parts={1: PartReview(name="wing"), 4: PartReview(background=True)},
        photos={NAMES[0]: "fine"},
        splits={5: Split(2, (3,))},
    )
    told = Joined(
        ("kind", "mass", "odd"),
        {NAMES[0]: ("a", "3.5", "1"), NAMES[1]: ("", "", "nan"), NAMES[2]: ("7", "2", "2")},
        "",
    )
    table = photo_table(run, review, PartsOfPhotos.of(run, review), ObjectCounts(run), told)
    assert [column["name"] for column in table["columns"]] == [
        *("photo", "checked", "mended", "kind", "mass", "odd", "object, % of photo"),
        *("wing, %", "part 2, %", "part 3, %", "part 5, %", "confidence"),
    ]
    numbers = [column["name"] for column in table["columns"] if column["number"]]
    assert numbers[0] == "mass" and "kind" not in numbers and "odd" not in numbers
    first, second, *_, last = table["rows"]
    assert first[:6] == [NAMES[0], "fine", None, "a", 3.5, "1"]
    assert first[6:] == pytest.approx([33.33, 33.33, 16.67, 33.33, 16.67, 0.5])
    assert second[:6] == [NAMES[1], None, None, None, None, "nan"]
    assert last[6:] == [0.0, None, None, None, None, None]


def test_without_a_table_of_the_user_there_are_no_such_columns(run: IndexedRun):
    measured = PartsOfPhotos.of(run, Review(SHA256))
    table = photo_table(run, Review(SHA256), measured, ObjectCounts(run), None)
    assert not any(column["own"] for column in table["columns"])
    assert {len(row) for row in table["rows"]} == {len(table["columns"])} == {9}
