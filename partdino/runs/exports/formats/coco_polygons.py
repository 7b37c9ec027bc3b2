"""``coco.json``: COCO instances with polygons along pixel edges, for tools without masks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from partdino.runs.exports.finished import ExportImage
from partdino.runs.exports.formats.coco import CocoExporter
from partdino.runs.exports.polygons import part_polygons
from partdino.runs.writers.coco import part_annotation


class CocoPolygonsExporter(CocoExporter):
    """Writes each part as one annotation of one or more polygons; holes are cut open."""

    help = "COCO instances, polygons along pixel edges"

    def annotations(self, image: ExportImage) -> Iterable[dict[str, Any]]:
        """Return one annotation for each part (of each object) that an image has, without ids."""
        for part in image.result.parts:
            rings = part_polygons(image.result, part)
            yield part_annotation(part, [ring.ravel().tolist() for ring in rings])


EXPORTER = CocoPolygonsExporter
