"""What tells, image by image, that nothing has changed since a run was finished."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from partdino.describe.photos import Photo
from partdino.runs.changes import Changes, are_as_recorded
from partdino.runs.result_log import Recorded
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
