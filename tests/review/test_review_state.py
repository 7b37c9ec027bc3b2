"""`review.json`: what is said is kept, nonsense is refused, and label maps follow."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from partdino.errors import ReviewError
from partdino.runs.review import (
    Mend,
    PartReview,
    Review,
    changed,
    drawn_colours,
    drawn_lookup,
    label_lookup,
    read_review,
    review_label_map,
    reviewed_parts,
    write_review,
)

K = 5
PHOTOS = {"a.jpg", "b/ü.jpg"}
# 2 goes with 5 into 1, 3 is background, 4 is hidden.
SAID = Review(
    "abc",
    7,
    {
        1: PartReview(name="wing", colour="#0a141e"),
        2: PartReview(merged_into=5),
        3: PartReview(background=True),
        4: PartReview(hidden=True),
        5: PartReview(merged_into=1, name="was a wing"),
    },
    {"b/ü.jpg": "wrong"},
)


def part(number: int, **said: object) -> dict[str, object]:
    return {"part": number, "said": said or None}


def test_it_is_read_as_it_was_written(tmp_path: Path):
    write_review(tmp_path, SAID)
    assert read_review(tmp_path, "abc", K) == SAID
    document = json.loads((tmp_path / "review.json").read_text(encoding="utf-8"))
    assert document == {
        "format": "partdino review",
        "schema": 1,
        "revision": 7,
        "model_sha256": "abc",
        "parts": {
            "1": {"name": "wing", "colour": "#0a141e"},
            "2": {"merged_into": 5},
            "3": {"background": True},
            "4": {"hidden": True},
            "5": {"name": "was a wing", "merged_into": 1},
        },
        "photos": {"b/ü.jpg": "wrong"},
    }


def test_there_is_an_empty_one_where_there_is_none(tmp_path: Path):
    assert read_review(tmp_path, "abc", K) == Review("abc")


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ({"schema": 2}, "another version"),
        ({"model_sha256": "other"}, "other parts"),
        ({"parts": {"1": {"nonsense": 1}}}, "damaged"),
        ({"parts": {"x": {}}}, "damaged"),
        ({"parts": {"6": {"hidden": True}}}, "damaged"),
        ({"parts": {"1": {"merged_into": 2}, "2": {"merged_into": 1}}}, "damaged"),
        ({"photos": {"a.jpg": "good"}}, "damaged"),
        ({"photos": []}, "damaged"),
        ({"revision": "one"}, "damaged"),
    ],
)
def test_a_wrong_one_is_named_with_its_cure(tmp_path: Path, damage: dict, words: str):
    write_review(tmp_path, SAID)
    path = tmp_path / "review.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | damage))
    with pytest.raises(ReviewError, match=words) as failure:
        read_review(tmp_path, "abc", K)
    assert "review.json" in str(failure.value)


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000])
def test_what_is_no_review_is_refused(tmp_path: Path, text: str):
    (tmp_path / "review.json").write_text(text)
    with pytest.raises(ReviewError, match="damaged"):
        read_review(tmp_path, "abc", K)


def test_changes_are_the_next_revision():
    review = changed(Review("abc"), [part(2, name=" left \t wing\n")], K, PHOTOS)
    review = changed(review, [{"photo": "a.jpg", "said": "fine"}], K, PHOTOS)
    assert review == Review("abc", 2, {2: PartReview(name="left wing")}, {"a.jpg": "fine"})
    undone = changed(review, [part(2), {"photo": "a.jpg", "said": None}], K, PHOTOS)
    assert undone == Review("abc", 3)


@pytest.mark.parametrize(
    "change",
    [
        {},
        None,
        {"part": 2},
        {"part": "2", "said": {}},
        {"part": True, "said": {}},
        part(0, hidden=True),
        part(6),
        part(6, hidden=True),
        part(1, merged_into=1),
        part(1, merged_into=9),
        part(1, merged_into="2"),
        part(1, colour="red"),
        part(1, colour="#FF0000;"),
        part(1, name=7),
        part(1, name="x" * 201),
        part(1, hidden=1),
        part(1, path="/etc/passwd"),
        {"part": 1, "said": "wing"},
        {"photo": "../a.jpg", "said": "fine"},
        {"photo": ["a.jpg"], "said": "fine"},
        {"photo": "a.jpg", "said": "good"},
        {"photo": "a.jpg", "said": {}},
    ],
)
def test_nonsense_is_refused_whole(change: dict):
    with pytest.raises(ReviewError):
        changed(SAID, [part(4, name="leg"), change], K, PHOTOS)


def test_hostile_names_are_kept_as_text():
    said = "<img src=x onerror=alert(1)> \u202egpj.\u202c ../\x00\x1b[2J"
    review = changed(Review(""), [part(1, name=said)], K, PHOTOS)
    assert review.parts[1].name == "<img src=x onerror=alert(1)> gpj. ../[2J"


def test_a_circle_of_merges_is_refused():
    with pytest.raises(ReviewError, match="circle"):
        changed(SAID, [part(1, merged_into=2)], K, PHOTOS)


def test_label_maps_follow():
    labels = np.array([[0, 1, 2], [3, 4, 5]], np.uint8)
    before = labels.copy()
    reviewed = review_label_map(labels, SAID, K)
    assert reviewed.tolist() == [[0, 1, 1], [0, 4, 1]] and reviewed.dtype == np.uint8
    assert (labels == before).all()
    assert drawn_lookup(SAID, K)[labels].tolist() == [[0, 1, 1], [0, 0, 1]]
    assert label_lookup(Review(""), K)[: K + 2].tolist() == [0, 1, 2, 3, 4, 5, 0]


def test_reviewed_parts_have_the_roots_name_and_fate():
    parts = reviewed_parts(SAID, K)
    assert [each.members for each in parts] == [(1, 2, 5), (3,), (4,)]
    assert [each.name for each in parts] == ["wing", "part 3", "part 4"]
    assert [each.background for each in parts] == [False, True, False]
    assert [each.hidden for each in parts] == [False, False, True]
    assert drawn_colours(SAID, K)[1].tolist() == [10, 20, 30]


def test_merged_background_is_background():
    review = Review("", parts={1: PartReview(background=True), 2: PartReview(merged_into=1)})
    assert label_lookup(review, 3)[:4].tolist() == [0, 0, 0, 3]


def test_each_mended_photo_has_one_line(tmp_path: Path):
    names = ['a "b"\\ü.jpg', "c.jpg"]
    mended = {name: Mend("x", (7, 9), {2: (3, 4)}) for name in names}
    review = Review("abc", 3, photos={"c.jpg": "fine"}, mended=mended)
    write_review(tmp_path, review)
    assert read_review(tmp_path, "abc", K) == review
    lines = (tmp_path / "review.json").read_text(encoding="utf-8").splitlines()
    assert lines[-4].startswith('    "a \\"b\\"\\\\ü.jpg": {"pieces"') and lines[-2:] == [
        "  }",
        "}",
    ]
    assert json.loads("\n".join(lines)) == review.document()
