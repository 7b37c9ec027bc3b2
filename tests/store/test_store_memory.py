"""What millions of photos take of memory: bytes for each, whatever their names are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from partdino.describe import photos as describe_photos
from partdino.describe.photos import Photo, PhotoList
from partdino.errors import StoreError
from partdino.images.listing import Found
from partdino.runs.image_names import ImageNames, image_stems
from partdino.runs.resume import Existing
from partdino.runs.shard import WHOLE, Shard
from partdino.runs.store import FeatureStore, Header, StoreWriter, open_stores
from partdino.runs.store.blocks import block_path, index_path, write_block

IMAGES = 20_000


def name(number: int) -> str:
    return f"{number // 1000:05}/photo_{number:08}.jpg"


def listed(count: int) -> PhotoList:
    """Return photos that are not there."""
    found = Found()
    found.add(f"/nowhere/{name(number)}" for number in range(count))
    return PhotoList(found.named(lambda place: place.removeprefix("/nowhere/")))


def header(copied: Path, count: int, shard: Shard = WHOLE) -> Header:
    """Return the header of a store of so many photos, else as that of another one."""
    return replace(Header.read(copied), images=count, block_size=32, shard=shard)


def written(folder: Path, head: Header) -> Path:
    """Write a store whose photos have all failed."""
    head.write(folder)
    for number in head.blocks:
        places = range(number * 32, min(number * 32 + 32, head.images))
        photos = [Photo(name(n), f"/photos/{name(n)}", f"{name(n)} {n} 1") for n in places]
        failures = {photo.key: "unreadable" for photo in photos}
        write_block(block_path(folder, number), photos, {}, failures)
    return folder


def bytes_each(action: Callable[[], object], count: int = IMAGES) -> float:
    """Return the most memory that an action takes at a time, for each of so many photos."""
    tracemalloc.start()
    try:
        action()
        return (tracemalloc.get_traced_memory()[1] - _grown_interpreter()) / count
    finally:
        tracemalloc.stop()


def _grown_interpreter() -> int:
    """Return what Python's table of interned names (of all paths ever) took to grow just then."""
    traces = tracemalloc.take_snapshot().traces
    return sum(t.size for t in traces if t.size > 2**20 and "pathlib" in t.traceback[0].filename)


@pytest.fixture(scope="module")
def long_store(store, tmp_path_factory) -> Path:
    return written(tmp_path_factory.mktemp("long") / "store", header(store, IMAGES))


def test_a_store_is_opened_and_read_in_little_memory(long_store):
    def read() -> None:
        opened = open_stores([long_store])
        assert sum(image.failure is not None for image in opened.images) == IMAGES
        assert sum(1 for _ in opened.versions) == IMAGES
        assert len(opened.keys) == 0

    assert bytes_each(read) < 40  # with a record of each in memory it was 700


def test_stems_are_chosen_in_little_memory(long_store):
    names = ImageNames(open_stores([long_store]).images)
    assert bytes_each(lambda: image_stems(names)) < 60  # with all in a dictionary it was 500
    assert image_stems(names)[name(7)] == "00000/photo_00000007"


def test_a_store_is_begun_and_resumed_in_little_memory(store, tmp_path):
    head, missing = header(store, IMAGES), []

    def begin() -> None:
        missing.append(StoreWriter(tmp_path, Existing.RESUME).begin(listed(IMAGES), head))

    assert bytes_each(begin) < 60  # with lists of the photos it was 800
    assert len(missing[0]) == IMAGES
    assert bytes_each(begin) < 60
    assert [each for each, _ in zip(missing[1], range(40), strict=False)][33][0] == 1


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_photos_are_found_in_little_memory():
    """Of the whole process: what SQLite takes is not Python's."""
    count = 100_000
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_store_memory import listed\n"
        "def peak(): return int(next(line.split()[1] for line in open('/proc/self/status')"
        " if line.startswith('VmHWM')))\n"
        "listed(1)\n"
        "before = peak()\n"
        f"assert sum(photo.key.endswith('missing') for photo in listed({count})) == {count}\n"
        "print(peak() - before)\n"
    )
    path = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    ran = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parent)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    # SQLite's caches and what it sorts, as much for 5 million: with records, it was 1,200 each.
    assert int(ran.stdout) * 1024 / count < 600


def test_a_shard_looks_at_its_own_photos_alone(store, tmp_path, monkeypatch):
    looked: list[str] = []

    def version(path: Path) -> str:
        looked.append(path.name)
        return "missing"

    monkeypatch.setattr(describe_photos, "file_version", version)
    head, photos = header(store, 320, Shard(2, 5)), listed(320)
    missing = StoreWriter(tmp_path, Existing.REFUSE).begin(photos, head)
    assert len(missing) == 64 and len(list(missing)) == 64
    assert looked == [Path(name(number)).name for number in range(64, 128)]


def test_a_photo_is_the_version_that_it_was_when_it_was_first_seen(tmp_path):
    file = tmp_path / "a.jpg"
    file.write_bytes(b"one")
    found = Found()
    found.add([str(file)])
    photos = PhotoList(found.named(lambda place: "a.jpg"))
    before = photos[0]
    file.write_bytes(b"another")
    assert photos[0] == before == photos[0:1][0] and before.key.startswith("a.jpg 3 ")


def test_a_list_of_a_block_that_is_replaced_or_cut_ends_the_run(store, tmp_path):
    folder = written(tmp_path / "store", header(store, 64))
    opened = open_stores([folder])
    index = index_path(block_path(folder, 1))
    document = json.loads(index.read_text())
    document["images"][3]["photo"] = "/elsewhere.jpg"
    index.write_text(json.dumps(document))
    assert opened.images[31].name == name(31)
    with pytest.raises(StoreError, match=r"000001\.safetensors is damaged: it was replaced"):
        list(opened.images[:35])
    document["images"].pop()
    index.write_text(json.dumps(document))
    with pytest.raises(StoreError, match=r"000001\.json is damaged: it lists 31 images instead"):
        open_stores([folder])


def test_descriptions_are_found_by_the_places_of_their_images(store):
    opened = open_stores([store])
    some = FeatureStore(opened.header, [replace(opened.images[0], failure="x"), opened.images[1]])
    assert list(opened.keys) == [str(place) for place in range(len(opened.images))]
    assert list(some.keys) == ["1"]
    features = opened.images[1].read().features
    for descriptions in (opened, some, opened.part(["1"]), opened.part(["1", "2"]).part(["1"])):
        assert np.array_equal(descriptions.read("1").features, features)
