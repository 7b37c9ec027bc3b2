"""`coco.json`: part masks in the format of the COCO instances, for annotation and evaluation tools.

Masks are compressed run-length encodings with ``iscrowd`` 0. The encoding follows from the type of
``segmentation`` alone in pycocotools, CVAT (through Datumaro) and FiftyOne, while ``iscrowd`` 1
would mark every part as a group of objects, which evaluators ignore. Label Studio's own COCO
importer reads polygons only, whatever ``iscrowd`` says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from pycocotools import mask as coco_mask

from partdino.files import atomic_path
from partdino.parts.naming import Naming
from partdino.parts.result import PartGeometry, PartSegmentation
from partdino.runs.writers.kept import KeptResult
from partdino.runs.writers.spool import JsonList, write_lists
from partdino.version import __version__


class CocoWriter:
    """Writes one annotation per image and part, with its mean confidence as ``score``.

    Where objects are told apart, one per image, object (``instance``) and part.

    Images are numbered from 1 in the order they are added, category ids are part numbers. Memory
    does not grow with the number of images.

    Parameters
    ----------
    out
        The run's output folder.
    naming
        What the parts are called, None: by their numbers.
    """

    def __init__(self, out: Path, naming: Naming | None = None) -> None:
        self._path = out / "coco.json"
        self._naming = naming
        self._file = CocoLists(out)
        self._num_parts = 0

    def add(self, result: PartSegmentation | KeptResult) -> None:
        """Append one image and its masks; raises `OutputError`."""
        self._num_parts = result.num_parts
        known = result.annotations if isinstance(result, KeptResult) else rle_annotations(result)
        self._file.add(self._file.images.length + 1, result.name, result, known)

    def close(self) -> None:
        """Assemble and write the file; raises `OutputError`."""
        with atomic_path(self._path) as temporary, temporary.open("wb") as stream:
            self._file.save(stream, part_categories(self._num_parts, self._naming))


class CocoLists:
    """The lists of a COCO file, on the disk until it is written.

    Parameters
    ----------
    folder
        Where they are kept, see `Spool`.

    Attributes
    ----------
    images, annotations : JsonList
    """

    def __init__(self, folder: Path) -> None:
        self.images, self.annotations = JsonList(folder), JsonList(folder)

    def add(
        self,
        image_id: int,
        name: str,
        result: PartSegmentation | KeptResult,
        annotations: Iterable[Mapping[str, Any]],
    ) -> None:
        """Append an image and what is known of its parts; raises `OutputError`.

        Parameters
        ----------
        image_id, name
            Of the image in the file.
        result
            The image's parts.
        annotations
            Without ids; where they have a category, the part's mean confidence is their ``score``.
        """
        height, width = result.size
        self.images.append({"id": image_id, "file_name": name, "width": width, "height": height})
        for annotation in annotations:
            entry = {"id": self.annotations.length + 1, "image_id": image_id, **annotation}
            if part := annotation.get("category_id"):
                entry["score"] = round(float(result.confidence[part - 1]), 4)
            self.annotations.append(entry)

    def save(self, stream: IO[bytes], categories: Sequence[Mapping[str, Any]]) -> None:
        """Write the file and let go of the lists."""
        head = {
            "info": {"description": f"Parts found by Part-DINO {__version__}"},
            "licenses": [],
            "categories": categories,
        }
        write_lists(stream, head, {"images": self.images, "annotations": self.annotations})


def part_categories(num_parts: int, naming: Naming | None = None) -> list[dict[str, Any]]:
    """Return the COCO categories of parts 1..K.

    Without names they are ``part_01``.., or ``part_001``.. above 99 parts.
    """
    digits = max(2, len(str(num_parts)))
    numbers = range(1, num_parts + 1)
    names = [f"part_{part:0{digits}d}" for part in numbers] if naming is None else naming.names
    return [
        {"id": part, "name": name, "supercategory": "part"}
        for part, name in zip(numbers, names, strict=False)  # of no photo, there are no parts
    ]


def rle_annotations(result: PartSegmentation) -> Iterator[dict[str, Any]]:
    """Yield the annotation of each part (of each object), with its mask as run lengths."""
    columns = np.asfortranarray(result.label_map)  # the order in which COCO counts runs
    objects = None if result.instances is None else np.asfortranarray(result.instances)
    for geometry in result.parts:
        mask = columns == geometry.part
        if objects is not None:
            mask &= objects == geometry.instance
        rle = coco_mask.encode(mask.view(np.uint8))
        size = [int(length) for length in rle["size"]]
        yield part_annotation(geometry, {"size": size, "counts": rle["counts"].decode("ascii")})


def part_annotation(geometry: PartGeometry, segmentation: object) -> dict[str, Any]:
    """Return the annotation of a part, without ids and score; COCO has two kinds of masks."""
    instance = {} if geometry.instance is None else {"instance": geometry.instance}
    return {
        "category_id": geometry.part,
        **instance,
        "segmentation": segmentation,
        "area": geometry.area,
        "bbox": list(geometry.box),
        "iscrowd": 0,
    }
