"""The photos of a run, each with a key that another version of the file does not have."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from partdino.describe.identity import image_key, version_of
from partdino.files import file_version, recover_folder
from partdino.images.find import search_images
from partdino.images.listing import ImageFile, ImageList
from partdino.images.read import LoadedImage, read_image
from partdino.long_lists import LongList
from partdino.scratch import Scratch


@dataclass(frozen=True, slots=True)
class Photo:
    """An image of the run.

    Attributes
    ----------
    name
        As `partdino.images.ImageFile`.
    path
        Where to read it: an absolute path, or a URL.
    key
        What its description is stored under, see `image_key`: another one for another file of the
        same name, another mask or other hints, so that resuming starts again with those.
    """

    name: str
    path: Path | str
    key: str

    @property
    def image(self) -> Path | Callable[[int], LoadedImage]:
        """What a `Source` takes: what is behind a URL is read as the version of the key alone."""
        if isinstance(self.path, Path):
            return self.path
        return partial(read_image, self.path, version=version_of(self.name, self.key))


class PhotoList(LongList[Photo]):
    """The photos of a run, sorted by name.

    Which version a photo is, is seen when it is first asked for, and kept: so a shard looks at its
    own photos alone.

    Parameters
    ----------
    files
        Those that were found; one that is missing will fail when it is read.
    masks, hints
        The folder of masks and the table of hints, if they are given.
    """

    def __init__(
        self, files: ImageList, masks: Path | None = None, hints: Path | None = None
    ) -> None:
        super().__init__(len(files))
        self.files, self._masks, self._hints = files, masks, hints
        self._scratch = Scratch("CREATE TABLE keys (place INTEGER PRIMARY KEY, key TEXT)")

    def _read(self, places: range) -> list[Photo]:
        files = list(self.files[places.start : places.stop])
        known = self._known(places)
        if len(known) < len(files):
            new = [pair for pair in zip(places, files, strict=True) if pair[0] not in known]
            self._scratch.change(
                "INSERT OR IGNORE INTO keys VALUES (?, ?)",
                [(place, _key(file, self._masks, self._hints)) for place, file in new],
            )
            known = self._known(places)
        return [
            Photo(file.name, _absolute(file.path), known[place])
            for place, file in zip(places, files, strict=True)
        ]

    def _known(self, places: range) -> dict[int, str]:
        question = "SELECT place, key FROM keys WHERE place >= ? AND place < ?"
        return dict(self._scratch.rows(question, places.start, places.stop))


def _absolute(path: Path | str) -> Path | str:
    return Path(os.path.abspath(path)) if isinstance(path, Path) else path


def _key(file: ImageFile, masks: Path | None, hints: Path | None) -> str:
    version = file.version or file_version(Path(file.path))
    return image_key(file.name, version, masks, hints)


def find_photos(
    inputs: Sequence[Path | str],
    exclude: Path,
    masks: Path | None = None,
    hints: Path | None = None,
    keep: Path | None = None,
) -> tuple[PhotoList, dict[str, int]]:
    """Find the photos of all inputs, sorted by name, and count by suffix what is not read.

    See `partdino.images.find.search_images` for `keep`, and `image_key` for `masks` and `hints`.
    """
    if masks is not None:
        recover_folder(masks)
    files, unread = search_images(inputs, exclude, keep)
    return PhotoList(files, masks, hints), unread
