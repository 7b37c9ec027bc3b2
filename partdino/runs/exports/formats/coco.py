"""``coco.json``: COCO instances with masks as run lengths, as the run's own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from partdino.files import atomic_path
from partdino.runs.exports.coco_file import CocoFile
from partdino.runs.exports.exporter import Exporter, Target
from partdino.runs.exports.finished import ExportImage
from partdino.runs.writers.coco import rle_annotation


class CocoExporter(Exporter):
    """Writes the run's ``coco.json`` with some parts alone, or with the ids of another file."""

    help = "COCO instances, masks as run lengths"
    takes_ids = True

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self.coco = CocoFile(target)

    def add(self, image: ExportImage) -> None:
        """Take an image; errors as of `Exporter.add`."""
        self.coco.add(image, self.annotations(image))

    def annotations(self, image: ExportImage) -> Iterable[dict[str, Any]]:
        """Return one annotation for each part that an image has, without ids."""
        columns = np.asfortranarray(image.label_map)  # the order in which COCO counts runs
        return (rle_annotation(columns, part) for part in image.result.parts)

    def close(self) -> None:
        """Write the file; raises `OutputError`."""
        with atomic_path(self.out / "coco.json") as temporary, temporary.open("wb") as stream:
            self.coco.save(stream)


EXPORTER = CocoExporter
