"""What was split and mended reaches every command that applies a review."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from review_runs import NAMES, SHA256, stripes, write_run
from segment_runs import table

from partdino.runs.review import Mend, PartReview, Review, Split, runs_of, write_review
from partdino.runs.review.mend import pieces_hash
from partdino.runs.writers.pieces import pieces_path


def given(labels: np.ndarray) -> np.ndarray:
    """The upper half of part 1."""
    return (labels == 1) & (np.indices(labels.shape)[0] < 30)


@pytest.fixture
def reviewed(own_folder: Path) -> Path:
    """Part 2 cut in two, 4 merged into 3, one photo mended, one excluded."""
    mask = given(stripes(3, None))
    content = pieces_path(own_folder, NAMES[3]).read_bytes()
    review = Review(
        SHA256,
        1,
        {4: PartReview(merged_into=3), 5: PartReview(name="belly")},
        {NAMES[1]: "excluded", NAMES[3]: "fine"},
        {5: Split(2, (3,))},
        {NAMES[3]: Mend(pieces_hash(content), (60, 90), {5: runs_of(mask)})},
    )
    write_review(own_folder, review)
    return own_folder


def expected(index: int) -> np.ndarray:
    labels = stripes(index % 12, 4 if index == 2 else None)
    lower = np.indices(labels.shape)[0] >= 30
    after = np.where((labels == 2) & lower, 5, np.where(labels == 4, 3, labels))
    return np.where(given(labels), 5, after) if index == 3 else after


def test_exports_have_them(partdino: Callable, reviewed: Path, tmp_path: Path):
    done = partdino("export", reviewed, "--format", "masks", "--out", tmp_path / "e")
    assert done.code == 0, done.stderr
    for index in (0, 2, 3):
        mask = Image.open(tmp_path / "e" / "masks" / NAMES[index].replace(".jpg", ".png"))
        assert (np.asarray(mask) == expected(index)).all()


def test_measurements_have_them_and_say_so(partdino: Callable, reviewed: Path, tmp_path: Path):
    done = partdino("measure", reviewed, "--out", tmp_path / "m", "--workers", 0)
    assert done.code == 0, done.stderr
    assert "review.json is applied" in done.stderr
    rows = table(tmp_path / "m" / "measurements.csv")
    areas = {(row["image"], int(row["part"])): int(row["area_px"]) for row in rows}
    for index in (0, 2, 3):
        numbers, counts = np.unique(expected(index), return_counts=True)
        of_photo = {part: area for (name, part), area in areas.items() if name == NAMES[index]}
        assert of_photo == dict(zip(numbers[1:].tolist(), counts[1:].tolist(), strict=True))
    assert {row["name"] for row in rows} == {"part 1", "part 2", "part 3", "belly"}
    photos = {row["image"]: row for row in table(tmp_path / "m" / "photos.csv")}
    assert NAMES[1] not in photos and len(photos) == 11
    assert {name for name, row in photos.items() if row["mended"]} == {NAMES[3]}
    assert photos[NAMES[3]]["checked"] == "fine" and photos[NAMES[0]]["checked"] == ""
    first = photos[NAMES[0]]
    assert int(first["part_5_area_px"]) == 300 and "part_4_area_px" not in first


def test_measurements_without_a_review_lack_its_columns(partdino, own_folder, tmp_path):
    assert partdino("measure", own_folder, "--out", tmp_path / "m", "--workers", 0).code == 0
    [first, *_] = table(tmp_path / "m" / "measurements.csv")
    assert "name" not in first and len(table(tmp_path / "m" / "photos.csv")) == 12


def test_the_report_has_them_and_says_so(partdino: Callable, reviewed: Path, tmp_path: Path):
    done = partdino("report", reviewed, "--out", tmp_path / "r.html")
    assert done.code == 0, done.stderr
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Split by hand: part 2 into parts 2 and 5." in text
    assert "1 photo was mended by hand." in text
    assert f"<figcaption>{NAMES[3]} <b>mended</b>" in text
    shares = [f"{100 * area / 2400:.2f}" for area in (300, 300, 1200, 600)]
    cells = ["fine", "mended", "44.44", *shares]
    row = "".join(f"<td>{cell}</td>" for cell in (NAMES[3], *cells))
    assert row in text


@pytest.mark.parametrize("command", ["export", "measure", "report"])
def test_what_was_labelled_anew_is_named(partdino, reviewed, tmp_path, command):
    other = write_run(tmp_path / "b", draw=lambda index: stripes(5, None))
    (other / "review.json").write_bytes((reviewed / "review.json").read_bytes())
    more = ("--format", "masks") if command == "export" else ()
    done = partdino(command, other, "--out", tmp_path / "o", *more)
    assert done.code == 2
    assert f"{NAMES[3]} was labelled anew since it was mended" in done.stderr
    assert not (tmp_path / "o").exists()


def test_the_page_opens_nevertheless_and_says_so(reviewed: Path, tmp_path: Path):
    pytest.importorskip("starlette")
    from partdino.runs.review import read_review
    from partdino.runs.review.finished import open_run
    from partdino.runs.review.web.session import ReviewSession

    run = open_run(reviewed)
    review = read_review(reviewed, SHA256, 4)
    mended = {name: replace(mend, pieces="00" * 8) for name, mend in review.mended.items()}
    write_review(reviewed, replace(review, mended=mended))
    session = ReviewSession(run)
    first, reasons = session.state["look_at"][0]
    assert first == 3 and "labelled anew" in reasons[0]
    assert session.drawn.mended == {} and session.version(3) == session.version(0)
    session.change(1, [{"mended": NAMES[3], "said": None}])
    assert not any("anew" in reason for _, why in session.state["look_at"] for reason in why)
