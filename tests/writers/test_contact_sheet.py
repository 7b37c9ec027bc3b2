from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from partdino.runs.writers import ContactSheetWriter, contact_sheet, example, sheet
from partdino.runs.writers.example import draw_example
from partdino.runs.writers.palette import part_colours

SIZES = [(48, 64), (64, 40), (32, 32), (20, 300), (300, 20), (1, 1)]
NAMES = ["a.jpg", "sub dir/Vögel ☃ 鳥.jpg", "new\nline.jpg", "x" * 250 + ".jpg", "caf\udce9.jpg"]


def _sheet(out: Path) -> Image.Image:
    with Image.open(out / "contact_sheet.jpg") as image:
        return image.convert("RGB")


@pytest.mark.parametrize("num_parts", [1, 6, 60])
@pytest.mark.parametrize("num_images", [1, 5, 100])
def test_renders_any_number_of_images_and_parts(
    make_result, make_photo, tmp_path: Path, num_parts: int, num_images: int
) -> None:
    writer = ContactSheetWriter(tmp_path)
    for index in range(num_images):
        size = SIZES[index % len(SIZES)]
        name = NAMES[index % len(NAMES)]
        photo = make_photo(size, index)
        writer.add(make_result(name, size, num_parts, index), partial(np.copy, photo))
    writer.close()
    drawn = _sheet(tmp_path)
    assert drawn.width == 2000
    assert drawn.height < 65_000
    legend = np.array(drawn.crop((0, 160, drawn.width, 400)).reduce(2)).astype(int)
    for colour in part_colours()[1 : num_parts + 1]:
        assert (np.abs(legend - colour).max(axis=-1) < 8).any()


def test_the_images_shown_and_the_examples_are_bounded(
    make_result, make_photo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = {}
    original = sheet.draw
    monkeypatch.setattr(
        sheet, "draw", lambda *arguments: drawn.update(enumerate(arguments)) or original(*arguments)
    )
    writer = ContactSheetWriter(tmp_path)
    photo = make_photo((16, 16))
    for index in range(300):
        label_map = np.full((16, 16), 1 + index % 60, np.uint8)
        writer.add(make_result(str(index), num_parts=60, label_map=label_map), lambda: photo)
    writer.close()
    thumbnails, num_images, num_parts, rows = (drawn[index] for index in range(4))
    assert (len(thumbnails), num_images, num_parts) == (60, 300, 60)
    shown = [int(thumbnail.name) for thumbnail in thumbnails]
    assert shown[0] == 0
    assert shown[-1] > 285
    assert set(np.diff(shown)) <= {4, 8}
    assert [row.part for row in rows] == list(range(1, 51))
    assert {len(row.examples) for row in rows} == {5}


def test_the_most_typical_examples_come_first_and_once_an_image(
    make_result, make_photo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        contact_sheet,
        "_read_example",
        lambda result, read, geometry, colour: (result.name, geometry.part),
    )
    order = np.random.default_rng(0).permutation(40)
    writer = ContactSheetWriter(tmp_path)
    label_map = np.ones((8, 8), np.uint8)
    for rank in order:
        result = make_result(str(rank), label_map=label_map, typicality=1 - rank / 50)
        writer.add(result, lambda: make_photo((8, 8)))
    (row,) = writer._rows()
    assert row.examples == [(str(rank), 1) for rank in range(sheet.EXAMPLES)]
    assert (row.num_images, row.area_fraction) == (40, 1)


@pytest.mark.parametrize("reduced", [1, 4])
def test_an_example_shows_the_part_undimmed(make_result, reduced: int) -> None:
    photo = np.full((200, 300, 3), 60, np.uint8)
    photo[100:140, 260:300] = 250
    label_map = np.zeros((200, 300), np.uint8)
    label_map[100:140, 260:300] = 2
    result = make_result(label_map=label_map)
    colour = np.zeros(3, np.uint8)
    reduced_photo = photo[::reduced, ::reduced]
    part = result.parts[0]
    drawn = draw_example(reduced_photo, result.label_map, part.part, part.box, colour, 198)
    assert drawn.shape == (198, 198, 3)
    assert (drawn > 230).all(axis=-1).mean() == pytest.approx(1 / 1.4**2, abs=0.08)
    assert (drawn < 40).all(axis=-1).mean() == pytest.approx(1 - 1 / 1.4**2, abs=0.08)


def test_windows_stay_inside_the_image() -> None:
    assert example._square_window((90, 0, 10, 10), (100, 100)) == (
        slice(0, 14),
        slice(86, 100),
    )
    assert example._square_window((0, 2, 100, 4), (10, 100)) == (slice(0, 10), slice(0, 100))


def test_images_without_parts_are_shown(make_result, tmp_path: Path) -> None:
    writer = ContactSheetWriter(tmp_path)
    grey = np.full((32, 32, 3), 128, np.uint8)
    writer.add(make_result(label_map=np.zeros((32, 32), np.uint8)), lambda: grey)
    writer.close()
    assert _sheet(tmp_path).height > 300


def test_a_lost_photo_is_shown_in_grey(make_result, tmp_path: Path) -> None:
    sheets = []
    for name, photo in (("lost", None), ("grey", np.full((24, 32, 3), 128, np.uint8))):
        writer = ContactSheetWriter(tmp_path / name)
        writer.add(make_result(size=(24, 32)), lambda photo=photo: photo)
        writer.close()
        sheets.append((tmp_path / name / "contact_sheet.jpg").read_bytes())
    assert sheets[0] == sheets[1]


def test_only_photos_that_are_shown_are_read(make_result, make_photo, tmp_path: Path) -> None:
    read = []
    writer = ContactSheetWriter(tmp_path)
    for index in range(400):
        result = make_result(str(index), label_map=np.ones((8, 8), np.uint8), typicality=0.5)
        writer.add(result, lambda index=index: read.append(index) or make_photo((8, 8)))
    # All of the first 120, of which every second is dropped then, and so on.
    assert len(read) == len(set(read)) == 120 + 60 + 40


def test_no_image_gives_no_sheet(tmp_path: Path) -> None:
    ContactSheetWriter(tmp_path).close()
    assert list(tmp_path.iterdir()) == []


def test_how_the_parts_were_made_is_at_the_foot(make_result, make_photo, tmp_path: Path) -> None:
    notes = ["Backbone efficientnet-lite2, as dinov2-s14 is not to be had: no network. " * 3, "So."]
    heights = []
    for name, said in (("without", ()), ("with", notes)):
        (tmp_path / name).mkdir()
        writer = ContactSheetWriter(tmp_path / name, said)
        writer.add(make_result("a.jpg"), make_photo)
        writer.close()
        heights.append(np.asarray(_sheet(tmp_path / name)))
    without, with_foot = heights
    added = len(with_foot) - len(without)
    assert added >= 34 + 2 * 22, "two lines at least"
    foot = with_foot[-added - 40 :]
    assert (foot.max(axis=(1, 2)) - foot.min(axis=(1, 2)).astype(int) > 60).sum() > 20
