"""What a store's images take of memory: a store may list millions of them."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

from partdino.describe.photos import Photo
from partdino.runs.store.blocks import read_index, write_block

IMAGES = 20_000
# With a Path and a dictionary in each record it was 619 bytes, failure included.
MOST_BYTES = 420


def test_an_image_of_a_store_takes_little_memory(tmp_path: Path) -> None:
    names = (f"{number // 1000:05}/photo_{number:08}.jpg" for number in range(IMAGES))
    photos = [Photo(name, f"/photos/{name}", f"{number:032x}") for number, name in enumerate(names)]
    failures = {photo.key: "unreadable" for photo in photos}
    block = tmp_path / "000000.safetensors"
    write_block(block, photos, {}, failures)
    del photos, failures
    tracemalloc.start()
    try:
        images = read_index(block)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(images) == IMAGES
    assert held / IMAGES < MOST_BYTES
    assert images[7].photo == Path("/photos/00000/photo_00000007.jpg")
