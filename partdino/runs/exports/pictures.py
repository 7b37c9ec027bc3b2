"""Label maps as pictures with a palette."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from partdino.files import atomic_path


def write_indexed(path: Path, label_map: np.ndarray, palette: np.ndarray) -> None:
    """Write a label map with a palette.

    Parameters
    ----------
    path
        The file; by its suffix a PNG or a TIFF.
    label_map
        uint8 (H, W), 0 = background, 1..K = parts.
    palette
        uint8 (256, 3), RGB.

    Raises
    ------
    OutputError
        It cannot be written.
    """
    indexed = Image.fromarray(label_map)
    indexed.putpalette(palette.tobytes())
    with atomic_path(path) as temporary:
        if path.suffix == ".png":
            indexed.save(temporary, "PNG")
        else:
            # Deflate, which ImageJ and tifffile read without a codec of their own.
            indexed.save(temporary, "TIFF", compression="tiff_adobe_deflate")
