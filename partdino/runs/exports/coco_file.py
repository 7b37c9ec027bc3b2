"""What formats of COCO have in common: a file of images and annotations, written at the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any

from partdino.files import atomic_path
from partdino.runs.exports.exporter import Exporter, Target
from partdino.runs.exports.finished import ExportImage
from partdino.runs.writers.coco import CocoLists


class CocoExporterBase(Exporter):
    """A format with a COCO file, in which images have the numbers of the export."""

    takes_ids = True

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self._file = CocoLists(target.out)

    def collect(self, image: ExportImage, annotations: Iterable[Mapping[str, Any]]) -> None:
        """Take an image and what is known of its parts, see `CocoLists.add`."""
        image_id = self.target.ids.of(image.recorded.name)
        self._file.add(image_id, image.name, image.result, annotations)

    def save(self, stream: IO[bytes]) -> None:
        """Write the file to a stream and let go of the images."""
        categories = [
            {"id": part.number, "name": part.name, "supercategory": "part"}
            for part in self.target.parts
        ]
        self._file.save(stream, categories)

    def save_as(self, path: Path) -> None:
        """Write the file, atomically; raises `OutputError`."""
        with atomic_path(path) as temporary, temporary.open("wb") as stream:
            self.save(stream)
