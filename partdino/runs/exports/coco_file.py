"""A COCO file that is written as images come."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import IO, Any

from partdino.runs.exports.exporter import Target
from partdino.runs.exports.finished import ExportImage
from partdino.runs.writers.spool import JsonList, write_lists
from partdino.version import __version__


class CocoFile:
    """Collects images and annotations, on the disk.

    Parameters
    ----------
    target
        Of the export: parts and numbers of the images.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._images, self._annotations = JsonList(target.out), JsonList(target.out)

    def add(self, image: ExportImage, annotations: Iterable[Mapping[str, Any]]) -> None:
        """Add an image and what is known of its parts.

        Parameters
        ----------
        image
            The image.
        annotations
            Without ids; where they have a category, the part's confidence is added as ``score``.
        """
        image_id = self._target.ids.of(image.recorded.name)
        height, width = image.size
        self._images.append(
            {"id": image_id, "file_name": image.name, "width": width, "height": height}
        )
        for annotation in annotations:
            entry = {"id": self._annotations.length + 1, "image_id": image_id, **annotation}
            if part := annotation.get("category_id"):
                entry["score"] = round(float(image.result.confidence[part - 1]), 4)
            self._annotations.append(entry)

    def save(self, stream: IO[bytes]) -> None:
        """Write the file and let go of the images."""
        head = {
            "info": {"description": f"Parts found by Part-DINO {__version__}"},
            "licenses": [],
            "categories": [
                {"id": part.number, "name": part.name, "supercategory": "part"}
                for part in self._target.parts
            ],
        }
        write_lists(stream, head, {"images": self._images, "annotations": self._annotations})
