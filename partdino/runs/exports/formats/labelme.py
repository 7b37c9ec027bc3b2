"""``<stem>.json`` beside the photo, for labelme: parts as mask shapes."""

from __future__ import annotations

import base64
from io import BytesIO
from pathlib import PurePosixPath
from typing import Any

from PIL import Image

from partdino.files import write_json
from partdino.parts.result import PartGeometry, PartSegmentation
from partdino.runs.exports.exporter import Exporter
from partdino.runs.exports.finished import ExportImage

_VERSION = "5.5.0"  # the first labelme whose files are as these


class LabelmeExporter(Exporter):
    """Writes a file for each photo that names the photo beside it."""

    help = "labelme: mask shapes, beside the photos"
    knows_by_stem = True
    photo_folder = ""

    @classmethod
    def file(cls, stem: str) -> str:
        """Where the shapes are."""
        return f"{stem}.json"

    def add(self, image: ExportImage) -> None:
        """Write one file; errors as of `Exporter.add`."""
        height, width = image.size
        document: dict[str, Any] = {
            "version": _VERSION,
            "flags": {},
            "shapes": [
                mask_shape(image.result, part, self.target.part(part.part).name)
                for part in image.result.parts
            ],
            "imagePath": PurePosixPath(image.name).name,
            "imageData": None,
            "imageHeight": height,
            "imageWidth": width,
        }
        write_json(self.out / self.file(image.stem), document)


def mask_shape(result: PartSegmentation, part: PartGeometry, name: str) -> dict[str, Any]:
    """Return a part as labelme's shape: first and last pixel, and a PNG; its object is a group."""
    x, y, width, height = part.box
    png = BytesIO()
    Image.fromarray(part.mask(result)).save(png, "PNG")
    return {
        "label": name,
        "points": [[x, y], [x + width - 1, y + height - 1]],
        "group_id": part.instance,
        "description": "",
        "shape_type": "mask",
        "flags": {},
        "mask": base64.b64encode(png.getvalue()).decode("ascii"),
    }


EXPORTER = LabelmeExporter
