"""The output folder: one class a format, all taking `partdino.parts.result.PartSegmentation`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from partdino.parts.naming import Naming
from partdino.parts.result import PartSegmentation
from partdino.runs.writers.coco import CocoWriter
from partdino.runs.writers.contact_sheet import ContactSheetWriter
from partdino.runs.writers.failures import write_failures
from partdino.runs.writers.instances import InstanceWriter
from partdino.runs.writers.kept import KeptResult
from partdino.runs.writers.labels import LabelWriter
from partdino.runs.writers.overlays import OverlayWriter
from partdino.runs.writers.parts_curve import curve_files, write_parts_curve
from partdino.runs.writers.parts_table import PartsTableWriter
from partdino.runs.writers.pieces import PiecesWriter

__all__ = [
    "CocoWriter",
    "ContactSheetWriter",
    "InstanceWriter",
    "LabelWriter",
    "OutputWriters",
    "OverlayWriter",
    "PartsTableWriter",
    "PiecesWriter",
    "curve_files",
    "write_failures",
    "write_parts_curve",
]


# Names the image whose files are being written: where a run is killed they may be in no list yet.
CURRENT_FILE = ".partdino-current"


class OutputWriters:
    """Every format at once.

    Files that cover a whole run appear at `close`, not before.

    Parameters
    ----------
    out
        The run's output folder.
    notes
        What "auto" stood for, and why: a sentence each.
    naming
        What the parts are called, None: by their numbers.
    stems
        What the files of images are called, see `partdino.runs.image_names`, by the images' names;
        the others have their whole names.
    instances
        Whether results tell objects apart.
    """

    def __init__(
        self,
        out: Path,
        notes: Sequence[str] = (),
        naming: Naming | None = None,
        stems: Mapping[str, str] | None = None,
        instances: bool = False,
    ) -> None:
        self._current = out / CURRENT_FILE
        self._stems = stems or {}
        self._labels = LabelWriter(out)
        self._instances = InstanceWriter(out)
        self._overlays = OverlayWriter(out, naming)
        self._pieces = PiecesWriter(out)
        self._coco = CocoWriter(out, naming)
        self._table = PartsTableWriter(out, naming, instances)
        self._sheet = ContactSheetWriter(out, notes, naming)

    def add(self, result: PartSegmentation, photo: np.ndarray | None) -> None:
        """Take one image's result.

        Parameters
        ----------
        result
            The parts of the image.
        photo
            uint8 (h, w, 3) RGB, possibly decoded smaller than the label map. Without one there is
            no overlay.

        Raises
        ------
        OutputError
            Something cannot be written.
        """
        self.keep(result, photo)
        self.recall(result, lambda: photo)

    def keep(self, result: PartSegmentation, photo: np.ndarray | None) -> None:
        """Write the image's own files alone; parameters and errors as of `add`."""
        stem = self._stems.get(result.name, result.name)
        self._current.write_bytes(os.fsencode(stem))
        self._labels.add(result, stem)
        self._instances.add(result, stem)
        self._pieces.add(result, stem)
        if photo is not None:
            self._overlays.add(result, photo, stem)

    def recall(
        self, result: PartSegmentation | KeptResult, photo: Callable[[], np.ndarray | None]
    ) -> None:
        """Take a result whose own files are there; the photo is read only if it is needed."""
        self._coco.add(result)
        self._table.add(result)
        self._sheet.add(result, photo)

    def close(self) -> None:
        """Finish the files that cover the run; raises `OutputError`."""
        self._current.unlink(missing_ok=True)
        for writer in (self._coco, self._table, self._sheet):
            writer.close()
