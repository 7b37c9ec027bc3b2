"""``coco.json``: COCO instances with masks as run lengths, as the run's own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from partdino.runs.exports.coco_file import CocoExporterBase
from partdino.runs.exports.finished import ExportImage
from partdino.runs.writers.coco import rle_annotations


class CocoExporter(CocoExporterBase):
    """Writes the run's ``coco.json`` with some parts alone, or with the ids of another file."""

    help = "COCO instances, masks as run lengths"

    def add(self, image: ExportImage) -> None:
        """Take an image; errors as of `Exporter.add`."""
        self.collect(image, self.annotations(image))

    def annotations(self, image: ExportImage) -> Iterable[dict[str, Any]]:
        """Return one annotation for each part (of each object) that an image has, without ids."""
        return rle_annotations(image.result)

    def close(self) -> None:
        """Write the file; raises `OutputError`."""
        self.save_as(self.out / "coco.json")


EXPORTER = CocoExporter
