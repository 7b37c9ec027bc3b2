"""`instances/<stem>.png`: which object of its photo every pixel belongs to."""

from __future__ import annotations

from pathlib import Path

from partdino.output_marks import INSTANCES_FOLDER
from partdino.parts.result import PartSegmentation
from partdino.runs.writers.labels import write_label_map


class InstanceWriter:
    """Writes the `instances` of results that have them, as `LabelWriter` writes label maps.

    Parameters
    ----------
    out
        The run's output folder.
    """

    def __init__(self, out: Path) -> None:
        self._folder = out / INSTANCES_FOLDER

    def add(self, result: PartSegmentation, stem: str) -> None:
        """Write one image's map, if it has one; `stem` and errors as of `LabelWriter.add`."""
        if result.instances is not None:
            write_label_map(self._folder / f"{stem}.png", result.instances)
