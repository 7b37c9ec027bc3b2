"""``tasks.json`` and ``config.xml`` for Label Studio: parts as predictions of its brush."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

import numpy as np

from partdino.files import atomic_path, write_text
from partdino.parts.result import PartGeometry
from partdino.runs.exports.brush_rle import encode_brush
from partdino.runs.exports.exporter import Exporter, Target
from partdino.runs.exports.finished import ExportImage, Part
from partdino.runs.writers.spool import JsonList
from partdino.version import __version__

# Of Label Studio's storage of local files: below the folder LOCAL_FILES_DOCUMENT_ROOT.
_ADDRESS = "/data/local-files/?d="


class LabelStudioExporter(Exporter):
    """Writes a task for each photo, and a labelling configuration with the parts' colours."""

    help = "Label Studio: tasks with brush masks, and the configuration"

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self._tasks = JsonList(target.out)

    def add(self, image: ExportImage) -> None:
        """Take an image; errors as of `Exporter.add`."""
        folder = f"{self.photo_folder}/" if self.target.photos else ""
        regions = [
            _region(image, geometry, self.target.part(geometry.part))
            for geometry in image.result.parts
        ]
        prediction = {"model_version": f"Part-DINO {__version__}", "result": regions}
        address = _ADDRESS + quote(f"{folder}{image.name}", safe="/")
        self._tasks.append({"data": {"image": address}, "predictions": [prediction]})

    def close(self) -> None:
        """Write both files; raises `OutputError`."""
        labels = "".join(
            f"    <Label value={quoteattr(part.name)} background={quoteattr(part.hex)}/>\n"
            for part in self.target.parts
        )
        config = (
            '<View>\n  <Image name="image" value="$image" zoom="true"/>\n'
            f'  <BrushLabels name="parts" toName="image">\n{labels}  </BrushLabels>\n</View>\n'
        )
        write_text(self.out / "config.xml", config)
        with atomic_path(self.out / "tasks.json") as temporary, temporary.open("wb") as stream:
            self._tasks.move_to(stream)


def _region(image: ExportImage, geometry: PartGeometry, part: Part) -> dict[str, Any]:
    height, width = image.size
    x, y, box_width, box_height = geometry.box
    mask = np.zeros((height, width), bool)
    mask[y : y + box_height, x : x + box_width] = geometry.mask(image.result)
    return {
        "id": part.of(geometry.instance).name,
        "from_name": "parts",
        "to_name": "image",
        "type": "brushlabels",
        "original_width": width,
        "original_height": height,
        "image_rotation": 0,
        "score": round(float(image.result.confidence[part.number - 1]), 4),
        "value": {
            "format": "rle",
            "rle": encode_brush(mask),
            "brushlabels": [part.name],
        },
    }


EXPORTER = LabelStudioExporter
