"""The images of a store, or of the stores of all shards, as their blocks list them."""

from __future__ import annotations

from array import array
from bisect import bisect
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from partdino.errors import StoreError
from partdino.long_lists import LongList
from partdino.runs.store.blocks import StoredImage, block_path, damaged, index_path, read_index
from partdino.runs.store.header import Header


class StoredImages(LongList[StoredImage]):
    """All images in the order of their names, read from a block's list when they are asked for.

    Memory holds a byte an image, and a hash of each list: what is read later is what was there when
    the store was opened.

    Parameters
    ----------
    shards
        Absolute folder and header of each store, in the order of the shards.

    Attributes
    ----------
    failed : bool (N,) array
        Which images have no description.

    Raises
    ------
    StoreError
        A block is missing or damaged; of the descriptions, only sizes are checked.
    """

    def __init__(self, shards: Sequence[tuple[Path, Header]]) -> None:
        for folder, header in shards:
            _check_finished(folder, header)
        self._folders = [(h.blocks.start, folder) for folder, h in shards if h.blocks]
        self._blocks = range(shards[0][1].blocks.start, shards[-1][1].blocks.stop)
        self._size, self._of_all = shards[0][1].block_size, shards[0][1].images
        self._hashes, failed = array("q"), bytearray()
        for number in self._blocks:
            images = self._list(number)
            self._hashes.append(hash(tuple(images)))
            failed += bytes(image.failure is not None for image in images)
        self.failed = np.frombuffer(failed, bool)
        self._latest: tuple[int, list[StoredImage]] = (-1, [])
        super().__init__(len(failed))

    def _read(self, places: range) -> list[StoredImage]:
        images: list[StoredImage] = []
        while left := len(places) - len(images):
            block, position = divmod(places.start + len(images), self._size)
            images += self._block(self._blocks[block])[position : position + left]
        return images

    def _block(self, number: int) -> list[StoredImage]:
        """Return the images of a block; the latest one is remembered."""
        latest, images = self._latest
        if number != latest:
            images = self._list(number)
            if hash(tuple(images)) != self._hashes[number - self._blocks.start]:
                raise damaged(images[0].block, "it was replaced meanwhile")
            self._latest = number, images
        return images

    def _list(self, number: int) -> list[StoredImage]:
        _, folder = self._folders[bisect(self._folders, number, key=lambda each: each[0]) - 1]
        images = read_index(block_path(folder, number))
        expected = min(self._size, self._of_all - number * self._size)
        if len(images) != expected:
            path = index_path(block_path(folder, number))
            raise damaged(path, f"it lists {len(images)} images instead of {expected}")
        return images


def _check_finished(folder: Path, header: Header) -> None:
    blocks = (block_path(folder, number) for number in header.blocks)
    missing = (block for block in blocks if not index_path(block).exists())
    if (first := next(missing, None)) is not None:
        raise StoreError(
            f"{folder} is unfinished: {1 + sum(1 for _ in missing)} of its {len(header.blocks)} "
            f"blocks are missing ({first.name}); go on with partdino features --resume"
        )
