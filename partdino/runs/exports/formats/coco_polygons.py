"""``coco.json``: COCO instances with polygons along pixel edges, for tools without masks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from partdino.parts.result import PartGeometry
from partdino.runs.exports.finished import ExportImage
from partdino.runs.exports.formats.coco import CocoExporter
from partdino.runs.exports.polygons import part_polygons


class CocoPolygonsExporter(CocoExporter):
    """Writes each part as one annotation of one or more polygons; holes are cut open."""

    help = "COCO instances, polygons along pixel edges"

    def annotations(self, image: ExportImage) -> Iterable[dict[str, Any]]:
        """Return one annotation for each part that an image has, without ids."""
        return [_annotation(image, part) for part in image.result.parts]


def _annotation(image: ExportImage, part: PartGeometry) -> dict[str, Any]:
    rings = part_polygons(image.label_map, part.part, part.box)
    return {
        "category_id": part.part,
        "segmentation": [ring.ravel().tolist() for ring in rings],
        "area": part.area,
        "bbox": list(part.box),
        "iscrowd": 0,
    }


EXPORTER = CocoPolygonsExporter
