"""How many objects a photo shows, on the page and in the report, as the review has it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from review_runs import NAMES, SHA256, write_run
from segment_runs import table

from partdino.runs.review import Mend, PartReview, Review, Split, runs_of, write_review
from partdino.runs.review.finished import open_run
from partdino.runs.review.mend import pieces_hash
from partdino.runs.review.objects import ObjectCounts
from partdino.runs.review.summary import PartsOfPhotos
from partdino.runs.review.table import photo_table
from partdino.runs.writers.pieces import pieces_path

MIDDLE = {2: PartReview(background=True), 3: PartReview(background=True)}  # between parts 1 and 4


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run that tells objects apart: one in each photo but the last."""
    return write_run(tmp_path, least_share=0.25)


def cut(folder: Path, index: int, columns: slice) -> Mend:
    """Background given to columns of a photo from top to bottom: it has two objects then."""
    gap = np.zeros((60, 90), bool)
    gap[:, columns] = True
    content = pieces_path(folder, NAMES[index]).read_bytes()
    return Mend(pieces_hash(content), (60, 90), {0: runs_of(gap)})


def counts(folder: Path, review: Review) -> list[int | None]:
    objects = ObjectCounts(open_run(folder))
    return [objects.of(review, index) for index in range(len(NAMES))]


def test_mends_background_and_splits_keep_the_count_right(folder: Path):
    assert counts(folder, Review(SHA256)) == [*[1] * 11, 0]
    mended = {NAMES[3]: cut(folder, 3, slice(30, 36))}
    assert counts(folder, Review(SHA256, mended=mended)) == [1, 1, 1, 2, *[1] * 7, 0]
    # The third photo has no part 4.
    assert counts(folder, Review(SHA256, parts=MIDDLE)) == [2, 2, 1, *[2] * 8, 0]
    # Of a part that was split, a half is background: what is left still holds together.
    halved = Review(SHA256, parts={5: PartReview(background=True)}, splits={5: Split(2, (3,))})
    assert counts(folder, halved) == [*[1] * 11, 0]
    both = Review(
        SHA256,
        parts={2: PartReview(background=True), 5: PartReview(background=True)},
        splits={5: Split(2, (3,))},
    )
    assert counts(folder, both) == [*[2] * 11, 0]


def test_they_are_those_of_measure_and_the_report(partdino: Callable, folder: Path, tmp_path: Path):
    mended = {NAMES[3]: cut(folder, 3, slice(30, 36))}
    review = Review(SHA256, 1, parts={4: PartReview(background=True)}, mended=mended)
    write_review(folder, review)
    run = open_run(folder)
    shown = photo_table(run, review, PartsOfPhotos.of(run, review), ObjectCounts(run), None)
    at = [column["name"] for column in shown["columns"]].index("objects")
    ours = {row[0]: row[at] for row in shown["rows"]}
    assert ours == dict(zip(NAMES, counts(folder, review), strict=True))
    assert partdino("measure", folder, "--out", tmp_path / "m", "--workers", 0).code == 0
    measured = {row["image"]: int(row["objects"]) for row in table(tmp_path / "m" / "photos.csv")}
    assert measured == ours
    assert partdino("report", folder, "--out", tmp_path / "r.html").code == 0
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<th>mended</th><th>objects</th>" in text
    rows = re.findall(r"<tr><td>([^<]+\.jpg)</td><td></td><td>\w*</td><td>(\d+)</td>", text)
    assert {name: int(count) for name, count in rows} == ours


def test_a_photo_is_counted_once(folder: Path):
    objects = ObjectCounts(open_run(folder))
    review = Review(SHA256, parts=MIDDLE)
    assert objects.of(review, 0) == 2
    (folder / "labels" / f"{NAMES[0]}.png").unlink()
    assert objects.of(review, 0) == 2 and objects.of(Review(SHA256), 0) == 1


def test_without_instances_there_is_no_word_of_it(own_folder: Path):
    assert counts(own_folder, Review(SHA256, parts=MIDDLE)) == [None] * 12
