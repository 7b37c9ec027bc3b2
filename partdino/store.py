"""Descriptions on disk, one file an image: memory stays flat, and a killed run can resume."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from partdino.description import ImageDescription
from partdino.files import atomic_path


class DescriptionStore:
    """A folder of image descriptions, found by the image's name.

    Parameters
    ----------
    folder
        Made when the first description is written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __contains__(self, name: str) -> bool:
        return self._path(name).is_file()

    def write(self, name: str, description: ImageDescription) -> None:
        """Store a description, atomically; raises `OutputError`."""
        arrays = {key: value for key, value in vars(description).items() if value is not None}
        arrays["cells"] = description.cells.astype(np.min_scalar_type(len(description.areas)))
        with atomic_path(self._path(name)) as temporary, temporary.open("wb") as stream:
            np.savez(stream, **arrays)  # features hardly compress

    def read(self, name: str) -> ImageDescription:
        """Return a description as it was written."""
        with np.load(self._path(name), allow_pickle=False) as stored:
            arrays = {key: stored[key] for key in stored}
        arrays["cells"] = arrays["cells"].astype(np.int32)
        arrays["size"] = tuple(int(length) for length in arrays["size"])
        return ImageDescription(**arrays)

    def _path(self, name: str) -> Path:
        # Hashed: an image's name may hold what a file's name may not, and be as long as a path.
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        return self.folder / digest[:2] / f"{digest}.npz"
