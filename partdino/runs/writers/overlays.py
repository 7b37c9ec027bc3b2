"""`overlays/<stem>.jpg`: the photo with its parts drawn on it, to look at."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from partdino.files import atomic_path
from partdino.images.sizes import resize_image
from partdino.parts.naming import Naming
from partdino.parts.result import PartSegmentation
from partdino.runs.writers.drawing import draw_parts
from partdino.runs.writers.palette import colours_of

MAX_SIDE = 1600
_QUALITY = 90


class OverlayWriter:
    """Writes every photo with translucent parts, at most 1,600 pixels on its longest side.

    Parameters
    ----------
    out
        The run's output folder.
    naming
        Whose colours the parts have, None: the usual ones.
    """

    def __init__(self, out: Path, naming: Naming | None = None) -> None:
        self._folder, self._colours = out / "overlays", colours_of(naming)

    def add(self, result: PartSegmentation, image: np.ndarray, stem: str) -> None:
        """Write one overlay; `stem` and errors as of `LabelWriter.add`."""
        scale = min(1.0, MAX_SIDE / max(image.shape[:2]))
        height, width = (max(1, round(side * scale)) for side in image.shape[:2])
        overlay = draw_parts(resize_image(image, (height, width)), result.label_map, self._colours)
        with atomic_path(self._folder / f"{stem}.jpg") as temporary:
            # Full-resolution colour: subsampling would smear the boundaries.
            Image.fromarray(overlay).save(temporary, "JPEG", quality=_QUALITY, subsampling=0)
