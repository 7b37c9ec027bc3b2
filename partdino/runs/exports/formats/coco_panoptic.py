"""``annotations/panoptic_default.json`` and PNGs beside: COCO panoptic."""

from __future__ import annotations

import numpy as np
from PIL import Image

from partdino.files import atomic_path
from partdino.runs.exports.coco_file import CocoExporterBase
from partdino.runs.exports.finished import ExportImage

_FOLDER = "annotations/panoptic_default"
_OBJECT = 256  # what an object adds to the id of a segment


class CocoPanopticExporter(CocoExporterBase):
    """Writes parts as segments whose id is the part's number; background is void.

    Where objects are told apart, the id is the part's number and 256 times the object's.
    """

    help = "COCO panoptic: JSON and PNG"

    @classmethod
    def file(cls, stem: str) -> str:
        """Where the segments are drawn."""
        return f"{_FOLDER}/{stem}.png"

    def add(self, image: ExportImage) -> None:
        """Write one PNG; errors as of `Exporter.add`."""
        path = self.out / self.file(image.stem)
        with atomic_path(path) as temporary:
            Image.fromarray(panoptic_ids(image.label_map, image.result.instances)).save(
                temporary, "PNG"
            )
        segments = [
            {
                "id": part.part + _OBJECT * (part.instance or 0),
                "category_id": part.part,
                "area": part.area,
                "bbox": list(part.box),
                "iscrowd": 0,
            }
            for part in image.result.parts
        ]
        self.collect(image, [{"file_name": f"{image.stem}.png", "segments_info": segments}])

    def close(self) -> None:
        """Write the file; raises `OutputError`."""
        self.save_as(self.out / f"{_FOLDER}.json")


def panoptic_ids(label_map: np.ndarray, instances: np.ndarray | None = None) -> np.ndarray:
    """Return uint8 (H, W, 3), red + 256 green + 65536 blue = the id of the segment, 0 is void.

    Parameters
    ----------
    label_map, instances
        uint8 (H, W), and integers (H, W) up to 65535 if objects are told apart.
    """
    ids = np.zeros((*label_map.shape, 3), np.uint8)
    ids[..., 0] = label_map
    if instances is not None:
        objects = np.where(label_map > 0, instances, 0).astype(np.uint16)
        ids[..., 1], ids[..., 2] = objects % 256, objects // 256
    return ids


EXPORTER = CocoPanopticExporter
