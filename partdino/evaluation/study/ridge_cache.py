"""The ridges of every image's boundary map, kept beside its description between runs."""

from __future__ import annotations

import hashlib
import zlib
from contextlib import suppress
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from partdino.describe.boundaries import detect_boundaries
from partdino.describe.source import Source
from partdino.evaluation.study.ridges import DEPTH, Crossings, find_ridges
from partdino.files import atomic_path
from partdino.images.sizes import resize_image
from partdino.options import SettledOptions


class RidgeCache:
    """A folder of ridges, found by the key of the image's description.

    Parameters
    ----------
    folder
        Of the descriptions: what decides them decides the boundary maps, too.
    options
        Settled ones.
    """

    def __init__(self, folder: Path, options: SettledOptions) -> None:
        self.folder = folder / f"ridges-{DEPTH:g}"
        self._options = options

    def read(self, key: str, source: Source, size: tuple[int, int]) -> Crossings:
        """Return the ridges of an image at (h, w), detected where they are not here, whole, yet."""
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        path = self.folder / f"{digest}.npz"
        damaged = suppress(OSError, EOFError, ValueError, KeyError, BadZipFile, zlib.error)
        with damaged, np.load(path, allow_pickle=False) as stored:
            return Crossings(stored["pixels"], stored["strength"])
        ridges = find_ridges(self._detect(source, size))
        with atomic_path(path) as temporary, temporary.open("wb") as stream:
            np.savez_compressed(stream, **vars(ridges))
        return ridges

    def _detect(self, source: Source, size: tuple[int, int]) -> np.ndarray:
        options = self._options
        # As many pixels as `describe_images` reads.
        loaded = source.load(4 * max(options.image_size, options.region_size) ** 2)
        image = resize_image(loaded.pixels, size)
        return detect_boundaries(image, options.boundaries, options.device_here, options.precision)
