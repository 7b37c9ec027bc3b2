"""`labels/<stem>.png`: the label map itself."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from PIL import Image

from partdino.files import write_bytes
from partdino.parts.result import PartSegmentation

# Label maps are large flat areas: higher levels cost time and save next to nothing.
_COMPRESSION_LEVEL = 1


class LabelWriter:
    """Writes every label map as a grey PNG of the original size.

    Its values are the parts, in every reader; colours are the business of the overlays.

    Parameters
    ----------
    out
        The run's output folder.
    """

    def __init__(self, out: Path) -> None:
        self._folder = out / "labels"

    def add(self, result: PartSegmentation, stem: str) -> None:
        """Write one label map; raises `OutputError`.

        Parameters
        ----------
        result
            The image's result.
        stem
            What its files are called, see `partdino.runs.image_names`.
        """
        write_label_map(self._folder / f"{stem}.png", result.label_map)


def write_label_map(path: Path, label_map: np.ndarray) -> None:
    """Write a label map as a grey PNG whose values are the labels, atomically.

    Not an indexed one: scikit-image, imageio, OpenCV, matplotlib and napari read the colours of its
    palette instead of the labels.

    Parameters
    ----------
    path
        The file.
    label_map
        uint8 (H, W): 0 = background, 1..K = parts; of more than 255 objects, uint16.

    Raises
    ------
    OutputError
        It cannot be written.
    """
    write_bytes(path, label_png(label_map))


def label_png(label_map: np.ndarray) -> bytes:
    """Return the grey PNG of a label map, uint8 or uint16 (H, W)."""
    stream = io.BytesIO()
    Image.fromarray(label_map).save(stream, "PNG", compress_level=_COMPRESSION_LEVEL)
    return stream.getvalue()
