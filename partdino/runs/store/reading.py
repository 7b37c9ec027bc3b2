"""Reading feature stores: those of all shards of a run are read as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from partdino.describe.description import ImageDescription
from partdino.errors import StoreError
from partdino.runs.shard import check_complete
from partdino.runs.store.blocks import StoredImage, block_path, index_path, read_index
from partdino.runs.store.header import Header
from partdino.runs.writers.failures import write_failures


class FeatureStore:
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
        self.header = header
        self.images = images
        self._dim: int | None = None  # of the features; known from the first that is read

    def write_failures(self, out: Path) -> None:
        """Write the table of the images that have none; raises `OutputError`."""
        failed = ((image.name, image.failure) for image in self.images if image.failure is not None)
        write_failures(out, failed)

    @property
    def versions(self) -> list[tuple[str, str | None]]:
        """Key and failure of each image."""
        return [(image.key, image.failure) for image in self.images]

    @cached_property
    def keys(self) -> list[str]:
        """The keys of all images that have a description."""
        return list(self._by_key)

    def read(self, key: str, pixels: bool = True) -> ImageDescription:
        """Return a description; raises `StoreError` if its block is damaged."""
        image = self._by_key[key]
        image.verify()
        description = image.read(pixels)
        self._dim = self._dim or description.features.shape[1]
        if description.features.shape[1] != self._dim:
            raise StoreError(
                f"{image.block} is damaged: image {image.position} has features of another length "
                "than others; delete it and go on with partdino features --resume"
            )
        return description

    def part(self, keys: Sequence[str]) -> FeatureStore:
        """Return a store of some images alone, which is quickly sent to a worker."""
        return FeatureStore(self.header, [self._by_key[key] for key in keys])

    @cached_property
    def _by_key(self) -> dict[str, StoredImage]:
        return {image.key: image for image in self.images if image.failure is None}


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
    images = [image for folder, header in shards for image in _images(folder, header)]
    for folder, header in shards:
        # It goes first and comes last where a store is replaced: the images listed are its own.
        if Header.read(folder) != header:
            raise StoreError(f"{folder} has just been replaced; run this again")
    return FeatureStore(shards[0][1].whole(), images)


def read_store(folder: Path) -> FeatureStore:
    """Open the store of one shard; raises `StoreError`."""
    header = Header.read(folder)
    return FeatureStore(header, list(_images(folder.absolute(), header)))


def _check_alike(shards: Sequence[tuple[Path, Header]]) -> None:
    first, expected = shards[0][0], shards[0][1].collection
    for folder, header in shards:
        for name, value in header.collection.items():
            if value != expected[name]:
                raise StoreError(
                    f"{first} and {folder} are not shards of one run: "
                    f"they have {name} {expected[name]!r} and {value!r}"
                )


def _images(folder: Path, header: Header) -> Iterator[StoredImage]:
    paths = [block_path(folder, number) for number in header.blocks]
    missing = [path for path in paths if not index_path(path).exists()]
    if missing:
        raise StoreError(
            f"{folder} is unfinished: {len(missing)} of its {len(paths)} blocks are missing "
            f"({missing[0].name}); go on with partdino features --resume"
        )
    for path in paths:
        yield from read_index(path)
