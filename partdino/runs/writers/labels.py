"""`labels/<name>.png`: the label map itself."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from partdino.files import atomic_path
from partdino.parts.result import PartSegmentation
from partdino.runs.writers.palette import part_colours

# Label maps are large flat areas: higher levels cost time and save next to nothing.
_COMPRESSION_LEVEL = 1


class LabelWriter:
    """Writes every label map as an 8-bit indexed PNG of the original size.

    Readers of indices (PIL, ImageJ) see 0 = background and 1..K = parts, image viewers the parts'
    colours.

    Parameters
    ----------
    out
        The run's output folder.
    """

    def __init__(self, out: Path) -> None:
        self._folder = out / "labels"

    def add(self, result: PartSegmentation) -> None:
        """Write one label map; raises `OutputError`."""
        indexed = Image.fromarray(result.label_map)
        # The whole palette even for few parts: Pillow would pack fewer colours into fewer than
        # 8 bits a pixel, which not every reader opens as indices.
        indexed.putpalette(part_colours().tobytes())
        with atomic_path(self._folder / f"{result.name}.png") as temporary:
            indexed.save(temporary, "PNG", compress_level=_COMPRESSION_LEVEL)
