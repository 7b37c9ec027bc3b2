"""A person's table of points and boxes: reading it, and what it says of an image's cells."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from partdino.describe.hints import PhotoHints, hints_of, read_hints, unknown_sentence
from partdino.describe.identity import image_key, is_replaced
from partdino.errors import ConfigError, InputError
from partdino.files import file_version
from partdino.images.read import ImageError
from partdino.options import validate

HEADER = "file,kind,x,y,width,height\n"
CELLS = np.arange(16).reshape(4, 4).repeat(10, 0).repeat(10, 1)  # at 40 x 40
SIZE = (80, 160)  # of the photo


@pytest.fixture
def table(tmp_path):
    def write(text: str) -> Path:
        path = tmp_path / "hints.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_points_and_a_box_of_each_photo(table):
    path = table(
        HEADER + "a.jpg,object,12.5,4,,\nb/c.jpg,box,1,2,30,40\n\na.jpg,Background,0,7,,\n"
    )
    assert read_hints(path) == {
        "a.jpg": PhotoHints(((12.5, 4.0, 1), (0.0, 7.0, -1))),
        "b/c.jpg": PhotoHints(box=(1.0, 2.0, 31.0, 42.0)),
    }
    assert hints_of(path, "other.jpg") is None
    assert hints_of(None, "a.jpg") is None


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_points_alone_need_no_columns_of_boxes_and_others_are_let_be(table, separator):
    path = table("Note,FILE,kind,x,y\nwing,a.jpg,object,3,4\n".replace(",", separator))
    assert read_hints(path) == {"a.jpg": PhotoHints(((3.0, 4.0, 1),))}


def test_letters_may_be_composed_or_not(table):
    assert hints_of(table(HEADER + "spa\u0308t.jpg,object,1,2,,\n"), "sp\u00e4t.jpg") is not None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "has no column file"),
        ("file,kind,x\n", "has no column y"),
        (HEADER + "a.jpg,wing,1,2,,\n", "line 2: kind is 'wing'; write object, background or box"),
        (HEADER + "a.jpg,object,,2,,\n", "line 2: x is ''; give pixels"),
        (HEADER + "a.jpg,object,1,2,,\na.jpg,object,nan,2,,\n", "line 3: x is 'nan'"),
        ("file,kind,x,y\na.jpg,box,1,2\n", "line 2: width is ''"),
        (HEADER + "a.jpg,box,1,2,0,5\n", "line 2: a box of 0 x 5 pixels"),
        (HEADER + "a.jpg,box,1,2,3,4\na.jpg,box,1,2,3,4\n", "line 3: a second box for a.jpg"),
    ],
)
def test_what_makes_no_sense_is_told_with_its_line(table, text, expected):
    with pytest.raises(InputError, match=expected) as error:
        read_hints(table(text))
    assert "hints.csv" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_table_that_is_not_there_or_no_text(tmp_path):
    with pytest.raises(InputError, match="check --hints"):
        read_hints(tmp_path / "none.csv")
    (tmp_path / "photo.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        read_hints(tmp_path / "photo.csv")


def test_files_that_are_none_of_the_photos_are_counted_and_named(table):
    path = table(HEADER + "".join(f"{name}.jpg,object,1,2,,\n" for name in "abcde"))
    assert unknown_sentence(path, ["a.jpg"]) == (
        f"{path} has hints for 4 files that are none of the photos: b.jpg, c.jpg, d.jpg, ..."
    )
    assert unknown_sentence(path, [f"{name}.jpg" for name in "abcde"]) == ""
    assert unknown_sentence(None, ["a.jpg"]) == ""


@pytest.mark.parametrize("point", [(160, 0), (0, 80), (-1, 5)])
def test_a_point_outside_the_photo_is_told(point):
    with pytest.raises(ImageError, match="is outside the photo of 160 x 80 pixels"):
        PhotoHints(((*point, 1),)).check(Path("hints.csv"), SIZE)


def test_a_box_is_within_the_photo_and_holds_the_points_of_the_object():
    PhotoHints(((20, 20, 1), (159, 79, -1)), (0, 0, 160.5, 60)).check(Path("h.csv"), SIZE)
    with pytest.raises(ImageError, match="the box from 0, 0 to 170, 60 is outside"):
        PhotoHints((), (0, 0, 170, 60)).check(Path("h.csv"), SIZE)
    with pytest.raises(ImageError, match="the object's point 20, 70 is not in the box"):
        PhotoHints(((20, 70, 1),), (0, 0, 160, 60)).check(Path("h.csv"), SIZE)


def test_cells_under_points_and_outside_the_box():
    # The photo is twice as high and four times as wide as its cells.
    points = ((79.9, 0, 1), (80, 79, -1), (0, 0, 1), (1, 1, -1))
    expected = np.zeros(16, np.int8)
    expected[[1, 14]] = 1, -1  # of the first, both are said
    np.testing.assert_array_equal(PhotoHints(points).of_cells(CELLS, SIZE), expected)
    boxed = PhotoHints(points, (0, 0, 95, 80)).of_cells(CELLS, SIZE)
    expected.reshape(4, 4)[:, 2:] = -2  # the third column is inside by less than half
    np.testing.assert_array_equal(boxed, expected)
    assert boxed.dtype == np.int8


def test_other_hints_make_another_version_of_that_photo_alone(table, tmp_path):
    photo = tmp_path / "a.jpg"
    photo.write_bytes(b"")

    def keys(text: str) -> list[str]:
        path = table(HEADER + text)
        return [image_key(name, file_version(photo), None, path) for name in ("a.jpg", "b.jpg")]

    first, other = keys("a.jpg,object,1,2,,\n"), keys("a.jpg,object,1,200,,\n")
    assert first[0] != other[0]
    assert first[1] == other[1] == image_key("b.jpg", file_version(photo))
    assert not is_replaced("a.jpg", first[0], photo)


@pytest.mark.parametrize("foreground", ["none", "masks"])
def test_hints_help_a_foreground_that_is_to_be_found(foreground, tmp_path):
    masks = {"masks": tmp_path} if foreground == "masks" else {}
    with pytest.raises(ConfigError, match="--hints"):
        validate({"hints": "a.csv", "foreground": foreground, **masks})
