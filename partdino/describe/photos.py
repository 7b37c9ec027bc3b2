"""The photos of a run, each with a key that another version of the file does not have."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from partdino.describe.identity import image_key
from partdino.files import file_version, recover_folder
from partdino.images.find import ImageFile, search_images


@dataclass(frozen=True)
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

    @classmethod
    def of(cls, file: ImageFile, masks: Path | None = None, hints: Path | None = None) -> Photo:
        """Make one of a file, which may be missing: reading it will fail."""
        path = file.path
        if isinstance(path, Path):
            path = Path(os.path.abspath(path))
        version = file.version or file_version(Path(path))
        return cls(file.name, path, image_key(file.name, version, masks, hints))


def find_photos(
    inputs: Sequence[Path | str],
    exclude: Path,
    masks: Path | None = None,
    hints: Path | None = None,
) -> tuple[list[Photo], dict[str, int]]:
    """Find the photos of all inputs, sorted by name, and count by suffix what is not read.

    See `partdino.images.find.search_images`, and `image_key` for `masks` and `hints`.
    """
    if masks is not None:
        recover_folder(masks)
    files, unread = search_images(inputs, exclude=exclude)
    return [Photo.of(file, masks, hints) for file in files], unread
