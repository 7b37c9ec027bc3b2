"""Reading feature stores: those of all shards of a run are read as one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from partdino.describe.description import ImageDescription
from partdino.errors import StoreError
from partdino.long_lists import LongList
from partdino.runs.shard import check_complete
from partdino.runs.store.blocks import StoredImage
from partdino.runs.store.header import Header
from partdino.runs.store.images import StoredImages
from partdino.runs.writers.failures import write_failures


class StoredDescriptions:
    """Descriptions of some images of a store.

    Parameters
    ----------
    images
        By what they are to be found by.
    """

    def __init__(self, images: Mapping[str, StoredImage]) -> None:
        self._images = images
        self._dim: int | None = None  # of the features; known from the first that is read

    def read(self, key: str, pixels: bool = True) -> ImageDescription:
        """Return a description; raises `StoreError` if its block is damaged."""
        image = self._image(key)
        image.verify()
        description = image.read(pixels)
        self._dim = self._dim or description.features.shape[1]
        if description.features.shape[1] != self._dim:
            raise StoreError(
                f"{image.block} is damaged: image {image.position} has features of another length "
                "than others; delete it and go on with partdino features --resume"
            )
        return description

    def part(self, keys: Sequence[str]) -> StoredDescriptions:
        """Return those of some images alone, which are quickly sent to a worker."""
        return StoredDescriptions({key: self._image(key) for key in keys})

    def _image(self, key: str) -> StoredImage:
        return self._images[key]


class FeatureStore(StoredDescriptions):
    """All images of a collection, in the order of their names.

    Attributes
    ----------
    header
        How the store was made.
    images
        All images, with those that failed.

    Parameters
    ----------
    header, images
        See the attributes; `open_stores` finds them.
    """

    def __init__(self, header: Header, images: Sequence[StoredImage]) -> None:
        super().__init__({})
        self.header = header
        self.images = images

    def write_failures(self, out: Path) -> None:
        """Write the table of the images that have none; raises `OutputError`."""
        failed = (self.images[place] for place in np.flatnonzero(self._failed).tolist())
        write_failures(out, ((image.name, image.failure or "") for image in failed))

    @property
    def versions(self) -> Iterator[tuple[str, str | None]]:
        """Key and failure of each image."""
        return ((image.key, image.failure) for image in self.images)

    @cached_property
    def keys(self) -> Sequence[str]:
        """What all images that have a description are found by: their places in `images`."""
        return _Places(np.flatnonzero(~self._failed).astype(np.int32))

    def _image(self, key: str) -> StoredImage:
        return self.images[int(key)]

    @cached_property
    def _failed(self) -> np.ndarray:
        if isinstance(self.images, StoredImages):
            return self.images.failed
        return np.array([image.failure is not None for image in self.images], bool)


class _Places(LongList[str]):
    """Whole numbers as text."""

    def __init__(self, places: np.ndarray) -> None:
        super().__init__(len(places))
        self._places = places

    def _read(self, places: range) -> list[str]:
        return [str(place) for place in self._places[places.start : places.stop].tolist()]


def open_stores(folders: Sequence[Path]) -> FeatureStore:
    """Open the store of a run, or those of all its shards in any order.

    Only sizes are checked here: a block's checksum is when it is read.

    Raises
    ------
    StoreError
        Something is no store, damaged, or unfinished, or the shards are not all those of one run.
    """
    # Workers on a cluster have other current folders.
    shards = [(folder.absolute(), Header.read(folder)) for folder in folders]
    _check_alike(shards)
    check_complete((str(folder), header.shard) for folder, header in shards)
    shards.sort(key=lambda shard: shard[1].shard.number)
    images = StoredImages(shards)
    for folder, header in shards:
        # It goes first and comes last where a store is replaced: the images listed are its own.
        if Header.read(folder) != header:
            raise StoreError(f"{folder} has just been replaced; run this again")
    return FeatureStore(shards[0][1].whole(), images)


def read_store(folder: Path) -> FeatureStore:
    """Open the store of one shard; raises `StoreError`."""
    header = Header.read(folder)
    return FeatureStore(header, StoredImages([(folder.absolute(), header)]))


def _check_alike(shards: Sequence[tuple[Path, Header]]) -> None:
    first, expected = shards[0][0], shards[0][1].collection
    for folder, header in shards:
        for name, value in header.collection.items():
            if value != expected[name]:
                raise StoreError(
                    f"{first} and {folder} are not shards of one run: "
                    f"they have {name} {expected[name]!r} and {value!r}"
                )
