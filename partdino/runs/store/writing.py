"""Writing a feature store, so that it can be killed at any moment and go on where it was."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import compress
from pathlib import Path

from partdino.describe.description import ImageDescription
from partdino.describe.photos import Photo
from partdino.errors import InputError, OutputError, StoreError
from partdino.files import remove
from partdino.output_marks import WORK_FOLDER
from partdino.runs.image_names import with_same_names
from partdino.runs.replacing import WHOLE, move_in
from partdino.runs.resume import LEFTOVERS, Existing, check_same, contents
from partdino.runs.store.blocks import (
    StoredImage,
    block_path,
    index_path,
    read_index,
    write_block,
)
from partdino.runs.store.descriptions import DescriptionStore
from partdino.runs.store.header import STORE_FILES, Header, is_store, refuse_foreign
from partdino.runs.store.reading import FeatureStore, read_store


class StoreWriter:
    """Fills the store of a collection, or of a shard of it.

    A store that is replaced stays as it is until the new one is whole: that lies in a work folder
    inside it, and takes its place by `publish`.

    An image goes to the journal, a file of its own, as soon as it is described, and from there into
    its block when that is full. So no more is lost than what is not described yet.

    Parameters
    ----------
    folder
        The store, in a folder that `partdino.runs.lock` holds for this run; made by `begin`.
    existing
        What to do if it holds one already.
    of_others
        Whether what it holds may be of any other photos: it is taken where it fits, else dropped.

    Raises
    ------
    OutputError
        It holds a store and `existing` is "refuse", or something else.

    Attributes
    ----------
    dropped, changed
        How many images the store to resume had that the collection has not, and how many of another
        version than today's; known after `begin`.
    """

    def __init__(self, folder: Path, existing: Existing, of_others: bool = False) -> None:
        self._target, self._new = folder, folder / WORK_FOLDER
        self._existing, self._of_others = existing, of_others
        self._check_contents()
        self.folder = self._place()
        self._journal = DescriptionStore(self.folder / "journal")
        self._photos: Sequence[Photo] = ()
        self._size = 0  # of blocks
        self._waiting: dict[int, int] = {}  # how many photos of a block are not settled yet
        self._failures: dict[str, str] = {}
        self.dropped = self.changed = 0

    def begin(self, photos: Sequence[Photo], header: Header) -> Missing:
        """Keep what can be kept of the store that is resumed, and clear the rest.

        Parameters
        ----------
        photos
            The collection, of all shards.
        header
            Of the store.

        Returns
        -------
        Missing
            The photos of this shard that are to be described: `add` or `fail` each.

        Raises
        ------
        OutputError
            The store to resume was made with other options or of other photos, or old files cannot
            be removed.
        StoreError
            It is of another version, or damaged.
        """
        self._clear(header)
        if not self._of_others:
            self._check_photos(photos)
        self._photos, self._size = photos, header.block_size
        kept = self._keep(header)
        header.write(self.folder)
        missing = Missing(self._block)
        for number in header.blocks:
            if number not in kept:
                new = [photo.key not in self._journal for photo in self._block(number)]
                missing.note(number, new)
                self._waiting[number] = sum(new)
                if not any(new):
                    self._seal(number)
        return missing

    def add(self, number: int, photo: Photo, description: ImageDescription) -> None:
        """Store what is known of a photo of a block; raises `OutputError`."""
        self._journal.write(photo.key, description)
        self._settle(number)

    def fail(self, number: int, photo: Photo, reason: str) -> None:
        """Store that a photo of a block cannot be described; raises `OutputError`."""
        self._failures[photo.key] = reason
        self._settle(number)

    def finish(self) -> FeatureStore:
        """Drop the journal and return what was written; raises `OutputError`."""
        store = read_store(self.folder)
        store.write_failures(self.folder)
        shutil.rmtree(self._journal.folder, ignore_errors=True)
        return store

    def publish(self) -> FeatureStore:
        """Let the finished store take the place of the one it replaces, and return it."""
        if self.folder != self._target:
            (self._new / WHOLE).touch()
            self._move_in()
        return read_store(self._target)

    @contextmanager
    def sparing_older(self) -> Iterator[None]:
        """Leave the store that was to be replaced where there is no input for a new one."""
        try:
            yield
        except InputError:
            if self.folder != self._target:
                remove(self._new)
            raise

    def _check_contents(self) -> None:
        occupied = contents(self._target)
        if occupied and not is_store(self._target) and not (self._new / WHOLE).exists():
            raise OutputError(f"{self._target} holds files of something else; choose another --out")
        if occupied and self._existing is Existing.OVERWRITE:
            refuse_foreign(self._target)
        if occupied and self._existing is Existing.REFUSE:
            raise OutputError(
                f"{self._target} holds a feature store; pass --resume to go on with it, "
                "--overwrite to start again, or another --out"
            )

    def _place(self) -> Path:
        """Return where the store is made: beside one that it replaces."""
        if (self._new / WHOLE).exists():  # a run was killed while it published
            self._move_in()
        elif self._existing is Existing.RESUME and is_store(self._new):
            return self._new
        else:
            remove(self._new)
        replaces = self._existing is Existing.OVERWRITE and is_store(self._target)
        return self._new if replaces else self._target

    def _move_in(self) -> None:
        """Put the new store in the place of the old one; may be killed and called again."""

        def remove_old() -> None:
            # The header goes first and comes last: what is there in between is no store.
            for name in STORE_FILES:
                remove(self._target / name)

        there = (name for name in reversed(STORE_FILES) if (self._new / name).exists())
        move_in(
            self._new,
            ((self._new / name, self._target / name) for name in there),
            remove_old,
            f"cannot replace the store in {self._target}",
            f"the new one is in {self._new}, and --resume goes on",
        )
        remove(self._new)

    def _clear(self, header: Header) -> None:
        if self._existing is Existing.RESUME and is_store(self.folder):
            begun = Header.read(self.folder)
            check_same(self.folder, begun.identity, header.identity)
            if begun.shard != header.shard:
                raise OutputError(
                    f"{self.folder} was begun as shard {begun.shard}, not {header.shard}; "
                    "choose another --out"
                )
        else:
            remove(self.folder / "blocks")
            remove(self._journal.folder)
        for leftover in list(self.folder.rglob(LEFTOVERS)):
            remove(leftover)

    def _check_photos(self, photos: Sequence[Photo]) -> None:
        known = 0
        stored = (image for _, images in self._blocks() for image in images)
        for image, photo in with_same_names(stored, photos):
            known += 1
            self.dropped += photo is None
            self.changed += photo is not None and photo.key != image.key
        if known and self.dropped == known:
            raise OutputError(
                f"{self.folder} holds features of other photos, none of which is in INPUT; "
                "resume with the same INPUT, or start again with --overwrite"
            )

    def _keep(self, header: Header) -> set[int]:
        """Return the numbers of the planned blocks that are there; take the others apart."""
        kept, share = set(), header.share(self._photos)
        for number, images in self._blocks():
            keys = [image.key for image in images if image.failure is None]
            # Failed images are tried again: what was wrong may have been cured.
            if number in header.blocks and keys == [photo.key for photo in self._block(number)]:
                kept.add(number)
            else:
                self._take_apart(images, share)
                self._remove_block(number)
        return kept

    def _block(self, number: int) -> Sequence[Photo]:
        return self._photos[number * self._size : (number + 1) * self._size]

    def _blocks(self) -> Iterator[tuple[int, list[StoredImage]]]:
        lists = (self.folder / "blocks").glob("[0-9]*.json")
        for number in sorted(int(path.stem) for path in lists):
            try:
                images = read_index(block_path(self.folder, number))
            except StoreError:  # such as one that was deleted because it was damaged
                self._remove_block(number)
            else:
                yield number, images

    def _take_apart(self, images: Sequence[StoredImage], photos: Sequence[Photo]) -> None:
        try:
            for image in images[:1]:  # all of a block lie in one file
                image.verify()
        except StoreError:  # what is damaged must not get a new checksum
            return
        for image, photo in with_same_names(images, photos):
            wanted = image.failure is None and photo is not None and photo.key == image.key
            if wanted and image.key not in self._journal:
                self._journal.write_arrays(image.key, image.read_arrays())

    def _remove_block(self, number: int) -> None:
        path = block_path(self.folder, number)
        remove(index_path(path))
        remove(path)

    def _settle(self, number: int) -> None:
        self._waiting[number] -= 1
        if self._waiting[number] == 0:
            self._seal(number)

    def _seal(self, number: int) -> None:
        photos = self._block(number)
        keys = [photo.key for photo in photos if photo.key not in self._failures]
        descriptions = {key: self._journal.read_arrays(key) for key in keys}
        write_block(block_path(self.folder, number), photos, descriptions, self._failures)
        for key in keys:
            self._journal.remove(key)


class Missing(Iterable[tuple[int, Photo]]):
    """Photos that are to be described, each with the number of its block.

    Parameters
    ----------
    photos_of
        Returns the photos of a block.
    """

    def __init__(self, photos_of: Callable[[int], Sequence[Photo]]) -> None:
        self._photos_of = photos_of
        self._blocks: dict[int, bytes] = {}  # which of its photos, a byte each

    def note(self, number: int, missing: Sequence[bool]) -> None:
        """Add the photos of a block that are missing."""
        self._blocks[number] = bytes(missing)

    def __len__(self) -> int:
        return sum(map(sum, self._blocks.values()))

    def __iter__(self) -> Iterator[tuple[int, Photo]]:
        for number, missing in self._blocks.items():
            yield from ((number, photo) for photo in compress(self._photos_of(number), missing))
