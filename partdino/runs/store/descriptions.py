"""Descriptions on disk, one file an image: memory stays flat, and a killed run can resume."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from partdino.describe.description import ImageDescription
from partdino.files import write_bytes
from partdino.runs.store.columns import Arrays, from_arrays, to_arrays


class DescriptionStore:
    """A folder of image descriptions, found by a key.

    Parameters
    ----------
    folder
        Made when the first description is written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __contains__(self, key: str) -> bool:
        from safetensors import SafetensorError, safe_open

        path = self._path(key)
        if not path.exists():  # as of nearly all, and sooner told
            return False
        try:
            with safe_open(path, framework="numpy"):
                return True
        except (OSError, SafetensorError):  # cut off when the power failed
            return False

    def write(self, key: str, description: ImageDescription) -> None:
        """Store a description, atomically; raises `OutputError`."""
        self.write_arrays(key, to_arrays(description))

    def read(self, key: str, pixels: bool = True) -> ImageDescription:
        """Return a description as it was written, or without what only labelling needs."""
        from safetensors import safe_open

        with safe_open(self._path(key), framework="numpy") as file:
            return from_arrays(file.keys(), file.get_tensor, pixels)

    def part(self, keys: Sequence[str]) -> DescriptionStore:
        """Return a store that holds these at least: this one, which is but a path."""
        return self

    def write_arrays(self, key: str, arrays: Arrays) -> None:
        """Store a description by its arrays."""
        from safetensors.numpy import save

        write_bytes(self._path(key), save(dict(arrays)))

    def read_arrays(self, key: str) -> dict[str, np.ndarray]:
        """Return the arrays of a description."""
        from safetensors.numpy import load_file

        return load_file(self._path(key))

    def remove(self, key: str) -> None:
        """Forget a description, if there is one."""
        self._path(key).unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        # Hashed: an image's name may hold what a file's name may not, and be as long as a path.
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        return self.folder / digest[:2] / f"{digest}.safetensors"
