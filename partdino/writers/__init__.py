"""The output folder: one class a format, all taking `partdino.result.PartSegmentation`."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import numpy as np

from partdino.result import PartSegmentation
from partdino.writers.coco import CocoWriter
from partdino.writers.contact_sheet import ContactSheetWriter
from partdino.writers.failures import write_failures
from partdino.writers.labels import LabelWriter
from partdino.writers.overlays import OverlayWriter
from partdino.writers.parts_curve import write_parts_curve
from partdino.writers.parts_table import PartsTableWriter

__all__ = [
    "CocoWriter",
    "ContactSheetWriter",
    "LabelWriter",
    "OutputWriter",
    "OutputWriters",
    "OverlayWriter",
    "PartsTableWriter",
    "write_failures",
    "write_parts_curve",
]


class OutputWriter(Protocol):
    """What every format offers. Files that cover a whole run appear at `close`, not before."""

    def add(self, result: PartSegmentation, image: np.ndarray) -> None:
        """Take one image's result.

        Parameters
        ----------
        result
            The parts of the image.
        image
            uint8 (h, w, 3) RGB: the photo, possibly decoded smaller than the label map.

        Raises
        ------
        OutputError
            Something cannot be written.
        """

    def close(self) -> None:
        """Finish the files; raises `OutputError`."""


class OutputWriters:
    """Every format at once.

    Parameters
    ----------
    out
        The run's output folder.
    """

    def __init__(self, out: Path) -> None:
        formats = (LabelWriter, OverlayWriter, CocoWriter, PartsTableWriter, ContactSheetWriter)
        self._writers: list[OutputWriter] = [writer(out) for writer in formats]

    def add(self, result: PartSegmentation, image: np.ndarray) -> None:
        """Take one image's result, as `OutputWriter.add`."""
        for writer in self._writers:
            writer.add(result, image)

    def close(self) -> None:
        """Finish the files; raises `OutputError`."""
        for writer in self._writers:
            writer.close()
