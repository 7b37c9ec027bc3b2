"""Which photos are called odd: those that are, and no others."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from partdino.parts.measures import PartMeasures
from partdino.runs.measures.odd import OddPhotos
from partdino.runs.measures.photo import PhotoMeasures
from partdino.runs.measures.scales import Scales


def photo(name: str, *areas: int, **more: object) -> PhotoMeasures:
    """A photo of 100 x 100 pixels with parts of some areas; 0 for a part that is absent."""
    parts = []
    for part, area in enumerate(areas, 1):
        values = dict.fromkeys((field.name for field in fields(PartMeasures)), 0)
        values |= {"part": part, "area_px": area, "share_of_object": area / sum(areas)}
        parts += [PartMeasures(**values)] if area else []
    given = {"width": 100, "height": 100, "foreground_found": True, "photo_found": True, **more}
    return PhotoMeasures(name, parts=tuple(parts), confidence=(0.5,) * len(areas), **given)


def judged(photos: list[PhotoMeasures]) -> dict[str, str]:
    odd = OddPhotos({part: f"part {part}" for part in range(1, 4)})
    for each in photos:
        odd.add(each)
    odd.finish()
    return {each.name: odd.of(each) for each in photos}


def usual(count: int = 20) -> list[PhotoMeasures]:
    rng = np.random.default_rng(0)
    areas = rng.normal((1000, 500, 200), (50, 25, 10), (count, 3)).astype(int)
    return [photo(f"{index}.jpg", *map(int, row)) for index, row in enumerate(areas)]


def test_photos_that_are_alike_are_not_odd():
    assert set(judged(usual()).values()) == {""}


def test_what_is_odd_is_said():
    found = judged(
        [
            *usual(),
            photo("missing", 1000, 500, 0),
            photo("large part", 700, 400, 600),
            photo("small", 100, 50, 20),
            photo("empty", foreground_found=False),
            photo("lost", 1000, 500, 200, photo_found=False),
            PhotoMeasures("bad", failure="the file is empty"),
        ]
    )
    assert "part 3 missing" in found["missing"]
    assert "part 3 large (" in found["large part"] and "object" not in found["large part"]
    assert found["small"].startswith("object small (0.1") and "part" not in found["small"]
    assert found["empty"] == "no object" and found["lost"] == "photo not found"
    assert found["bad"] == "failed: the file is empty"
    assert {found[f"{index}.jpg"] for index in range(20)} == {""}


def test_an_outline_far_less_sure_than_the_others_is_odd():
    photos = [photo(f"{n}", 1000, 500, 200, foreground_confidence=0.95) for n in range(20)]
    photos.append(photo("unsure", 1000, 500, 200, foreground_confidence=0.6))
    photos.append(photo("wrong", 1000, 500, 200, foreground_confidence=0.0))
    photos.append(photo("unknown", 1000, 500, 200))
    found = judged(photos)
    assert found["unsure"] == "outline unsure (0.6)" and found["wrong"] == "outline unsure (0)"
    assert {words for name, words in found.items() if name not in ("unsure", "wrong")} == {""}


def test_a_few_photos_tell_nothing_usual():
    assert set(judged([*usual(5), photo("small", 10, 5, 2)]).values()) == {""}


def test_a_part_that_few_photos_have_is_not_missed():
    photos = [photo(f"{index}", 1000, 500 if index < 14 else 0) for index in range(20)]
    assert not any("missing" in words for words in judged(photos).values())


def test_a_table_gives_each_photo_its_scale(tmp_path):
    table = tmp_path / "scales.csv"
    table.write_text("file,scale\na.jpg,12.5px/mm\nb.jpg,120 px/cm\n")
    scales = Scales(str(table), ["a.jpg", "b.jpg", "c.jpg"])
    assert [scales.of(name) for name in ("a.jpg", "b.jpg", "c.jpg")] == [12.5, 12.0, None]
    assert "c.jpg" in scales.unmatched
    table.write_text("file,scale\na.jpg,many\n")
    with pytest.raises(Exception, match=r"scales\.csv"):
        Scales(str(table), ["a.jpg"])
