"""The photos of a run, each with a key that another version of the file does not have."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from partdino.images import ImageFile, find_images


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
        What its description is stored under: another one for another file of the same name, so
        that resuming with other photos than were begun with starts again with those.
    """

    name: str
    path: Path | str
    key: str

    @classmethod
    def of(cls, file: ImageFile) -> Photo:
        """Make one of a file, which may be missing: reading it will fail."""
        if file.version is not None:
            return cls(file.name, file.path, f"{file.name} {file.version}")
        try:
            status = file.path.stat()
            version = f"{status.st_size} {status.st_mtime_ns}"
        except OSError:
            version = "missing"
        return cls(file.name, Path(os.path.abspath(file.path)), f"{file.name} {version}")


def find_photos(inputs: Sequence[Path | str], exclude: Path) -> list[Photo]:
    """Find the photos of all inputs, sorted by name; see `partdino.images.find_images`."""
    return [Photo.of(file) for file in find_images(inputs, exclude=exclude)]
