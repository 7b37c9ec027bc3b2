"""`coco.json`: part masks in the format of the COCO instances, for annotation and evaluation tools.

Masks are compressed run-length encodings with ``iscrowd`` 0. The encoding follows from the type of
``segmentation`` alone in pycocotools, CVAT (through Datumaro) and FiftyOne, while ``iscrowd`` 1
would mark every part as a group of objects, which evaluators ignore. Label Studio's own COCO
importer reads polygons only, whatever ``iscrowd`` says.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from pycocotools import mask as coco_mask

from partdino.files import atomic_path
from partdino.parts.result import PartGeometry, PartSegmentation
from partdino.runs.writers.spool import JsonList, write_lists
from partdino.version import __version__


class CocoWriter:
    """Writes one annotation per image and part, with its mean confidence as ``score``.

    Images are numbered from 1 in the order they are added, category ids are part numbers. Memory
    does not grow with the number of images.

    Parameters
    ----------
    out
        The run's output folder.
    """

    def __init__(self, out: Path) -> None:
        self._path = out / "coco.json"
        self._images, self._annotations = JsonList(out), JsonList(out)
        self._num_parts = 0

    def add(self, result: PartSegmentation) -> None:
        """Append one image and its masks; raises `OutputError`."""
        self._num_parts = result.num_parts
        height, width = result.label_map.shape
        image_id = self._images.length + 1
        self._images.append(
            {"id": image_id, "file_name": result.name, "width": width, "height": height}
        )
        columns = np.asfortranarray(result.label_map)  # the order in which COCO counts runs
        for geometry in result.parts:
            self._annotations.append(
                {
                    "id": self._annotations.length + 1,
                    "image_id": image_id,
                    **rle_annotation(columns, geometry),
                    "score": round(float(result.confidence[geometry.part - 1]), 4),
                }
            )

    def close(self) -> None:
        """Assemble and write the file; raises `OutputError`."""
        head = {
            "info": {"description": f"Parts found by Part-DINO {__version__}"},
            "licenses": [],
            "categories": part_categories(self._num_parts),
        }
        lists = {"images": self._images, "annotations": self._annotations}
        with atomic_path(self._path) as temporary, temporary.open("wb") as stream:
            write_lists(stream, head, lists)


def part_categories(num_parts: int) -> list[dict[str, Any]]:
    """Return the COCO categories ``part_01``.. of parts 1..K (``part_001``.. above 99 parts)."""
    digits = max(2, len(str(num_parts)))
    return [
        {"id": part, "name": f"part_{part:0{digits}d}", "supercategory": "part"}
        for part in range(1, num_parts + 1)
    ]


def rle_annotation(columns: np.ndarray, geometry: PartGeometry) -> dict[str, Any]:
    """Return the annotation of a part, without ids and score.

    Parameters
    ----------
    columns
        uint8 (H, W), the label map in Fortran order.
    geometry
        Of the part.
    """
    rle = coco_mask.encode((columns == geometry.part).view(np.uint8))
    return {
        "category_id": geometry.part,
        "segmentation": {
            "size": [int(length) for length in rle["size"]],
            "counts": rle["counts"].decode("ascii"),
        },
        "area": geometry.area,
        "bbox": list(geometry.box),
        "iscrowd": 0,
    }
