"""What tells, image by image, that nothing has changed since a run was finished."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from partdino.describe.photos import Photo
from partdino.long_lists import LongList
from partdino.runs.changes import Changes, are_as_recorded
from partdino.runs.result_log import Recorded, RecordedStems, ResultLog, Results
from partdino.runs.store import StoredImage

PHOTOS = [Photo(name, Path("/in") / name, f"{name} 10 20") for name in ("a.jpg", "b.jpg", "c.jpg")]
DONE = [Recorded(photo.name, str(photo.path), photo.key, file=photo.name[0]) for photo in PHOTOS]
FAILED = replace(DONE[1], failure="unreadable")


def stored(failure: str | None) -> StoredImage:
    return StoredImage("b.jpg", "b.jpg 10 20", "/in/b.jpg", failure, Path("block"), 0, "")


@pytest.mark.parametrize(
    ("recorded", "images", "same"),
    [
        (DONE, PHOTOS, True),
        (DONE[:2], PHOTOS, False),
        (DONE, PHOTOS[1:], False),
        (DONE, [*PHOTOS[:2], replace(PHOTOS[2], key="c.jpg 11 20")], False),
        (DONE, [*PHOTOS[:2], replace(PHOTOS[2], path=Path("/moved/c.jpg"))], False),
        ([*DONE[:2], replace(DONE[2], key=None)], PHOTOS, False),  # of 0.1: it is not known
        ([FAILED], [PHOTOS[1]], False),  # it may be readable now
        ([FAILED], [stored("unreadable")], True),
        ([FAILED], [stored(None)], False),
    ],
)
def test_are_as_recorded(recorded, images, same):
    assert are_as_recorded(iter(recorded), iter(images)) is same
    changes = Changes.between(recorded, images)
    something = changes.stale or changes.removed or changes.moved or changes.unknown
    assert bool(something) is not same


def test_each_image_is_of_its_kind_and_files_keep_their_names(tmp_path):
    was = {"b.jpg": "1 1", "c.jpg": "1 1", "d.jpg": "1 1", "e.jpg": "1 1", "g.jpg": "1 1"}
    parts = {"confidence": [1.0], "typicality": [1.0]}
    recorded = [Recorded(n, f"/in/{n}", f"{n} {v}", file=f"{n}~", **parts) for n, v in was.items()]
    recorded[3] = replace(recorded[3], failure="unreadable", file="e")
    recorded[4] = replace(recorded[4], failure="unreadable", file="g")
    results = ResultLog(tmp_path, {"any": "head"})
    results.begin()
    for result in recorded:
        results.append(result)
    assert list(Results(results.path)) == recorded
    now = {"a.jpg": "1 1", "b.jpg": "2 2", "c.jpg": "1 1", "e.jpg": "1 1", "e.png": "1 1"}
    images = [Photo(n, Path(f"/in/{n}"), f"{n} {v}") for n, v in now.items()]
    for drop_removed, kept in ((False, ["d.jpg"]), (True, [])):
        changes = Changes.between(Results(results.path), images, drop_removed)
        assert changes.counts == {"added": 2, "changed": 1, "failed": 1, "removed": 2}
        assert [image.name for image in changes.stale] == ["a.jpg", "b.jpg", "e.jpg", "e.png"]
        assert [result.name for result in changes.removed] == ["d.jpg", "g.jpg"]
        assert [result.name for result in changes.lost] == ["d.jpg"]
        assert changes.drops and not changes.moved and not changes.unknown
        assert [result.name for result in changes.results] == sorted([*now, *kept])
        stems = {result.name: result.stem for result in changes.results}
        # e.png would be e, which is taken.
        assert stems["a.jpg"] == "a" and stems["b.jpg"] == "b.jpg~" and stems["e.png"] == "e.png"
        by_name = RecordedStems(changes.results)
        assert dict(by_name) == stems and by_name.get("z.jpg") is None
        assert changes.results[1].key == "b.jpg 2 2"


def test_changes_are_found_and_read_in_little_memory(tmp_path):
    names = [f"{number:05}/photo.jpg" for number in range(10_000)]
    parts = {"confidence": [0.5] * 6, "typicality": [0.5] * 6}
    results = ResultLog(tmp_path, {"any": "head"})
    results.begin()
    with results.path.open("ab") as stream:
        for name in names:
            document = Recorded(name, f"/in/{name}", f"{name} 1 1", **parts).document()
            stream.write(json.dumps(document).encode() + b"\n")

    class Today(LongList[StoredImage]):
        def _read(self, places: range) -> list[StoredImage]:
            keys = {names[place]: f"{names[place]} 1 {place % 2}" for place in places}
            return [replace(stored(None), name=name, key=key) for name, key in keys.items()]

    tracemalloc.start()
    changes = Changes.between(Results(results.path), Today(len(names)))
    assert sum(1 for _ in changes.results) == len(names)
    assert sum(1 for _ in changes.stale) == len(names) / 2
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak / len(names) < 300
