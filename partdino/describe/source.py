"""An image to describe, wherever it comes from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from partdino.images import LoadedImage, read_image


@dataclass(frozen=True)
class Source:
    """An image to describe.

    Attributes
    ----------
    name
        Unique in the run.
    image
        A path or URL, uint8 (H, W, 3) RGB, or a function that reads the image: it is given how many
        pixels are of use, and the image is taken in the size that it returns, whatever its pixels
        have.
    mask
        A function that returns the object's mask, (H, W) of any size, object where not 0. None: as
        the options say.
    """

    name: str
    image: Path | str | np.ndarray | Callable[[int], LoadedImage]
    mask: Callable[[], np.ndarray] | None = None

    def load(self, max_pixels: int) -> LoadedImage:
        """Read the image, at no more than this many pixels if it is not in memory already."""
        if isinstance(self.image, np.ndarray):
            return LoadedImage(self.image, self.image.shape[:2])
        return (
            self.image(max_pixels) if callable(self.image) else read_image(self.image, max_pixels)
        )
