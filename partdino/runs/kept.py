"""Reading what a finished run's tables hold of its images, so that new tables need no label maps.

`coco.json` has the sizes of photos and the masks, areas and boxes of parts, `parts.csv` their
centroids: as these files are to have them again.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from partdino.errors import OutputError
from partdino.files import csv_safe
from partdino.parts.result import PartGeometry
from partdino.runs.result_log import Recorded
from partdino.runs.writers.kept import KeptResult
from partdino.runs.writers.parts_table import INSTANCE

_OF_THE_FILE = ("id", "image_id", "score")  # what an annotation has anew in every file


def read_kept(folder: Path, recorded: Iterable[Recorded]) -> Iterator[KeptResult]:
    """Yield what the tables of a finished run hold of its images, in their order.

    Parameters
    ----------
    folder
        The output folder.
    recorded
        The images of the run.

    Raises
    ------
    OutputError
        A table is missing, damaged, or was written by something else.
    """
    try:
        images = _items(folder / "coco.json", "images")
        annotations = groupby(_items(folder / "coco.json", "annotations"), lambda a: a["image_id"])
        of, found = next(annotations, (None, iter(())))
        with (folder / "parts.csv").open(newline="", encoding="utf-8") as stream:
            rows = csv.DictReader(stream)
            for result in recorded:
                if result.failure is not None:
                    continue
                image, own = next(images), []
                if image["id"] == of:
                    own = list(found)
                    of, found = next(annotations, (None, iter(())))
                if image["file_name"] != result.name:
                    raise ValueError(result.name)
                parts = [_geometry(each, next(rows), result.name) for each in own]
                told = [{k: v for k, v in each.items() if k not in _OF_THE_FILE} for each in own]
                yield KeptResult(
                    name=result.name,
                    size=(image["height"], image["width"]),
                    num_parts=len(result.confidence or ()),
                    confidence=np.array(result.confidence, np.float32),
                    typicality=np.array(result.typicality, np.float32),
                    parts=parts,
                    annotations=told,
                    read=partial(read_label_map, result, folder),
                )
            if any(True for _ in (*images, *annotations, *rows)) or of is not None:
                raise ValueError("there is more")
    except (OSError, ValueError, KeyError, TypeError, StopIteration, RuntimeError) as error:
        raise OutputError(
            f"{folder / 'coco.json'} and parts.csv are not those of its run ({error})"
        ) from error


def read_label_map(recorded: Recorded, folder: Path) -> np.ndarray:
    """Return an image's label map, uint8 (H, W); raises `OutputError`."""
    return recorded.recall(folder).label_map


def _items(path: Path, key: str) -> Iterator[dict[str, Any]]:
    """Yield the items of a list of a COCO file, one a line, as `JsonList` writes them."""
    with path.open(encoding="utf-8") as stream:
        for line in stream:
            if line == f'"{key}": [\n':
                break
        for line in stream:
            if line.startswith("]"):
                return
            yield json.loads(line.rstrip().removesuffix(","))


def _geometry(annotation: dict[str, Any], row: dict[str, str], name: str) -> PartGeometry:
    part, instance = annotation["category_id"], annotation.get("instance")
    said = (row["image"], row["part"], row.get(INSTANCE))
    if said != (csv_safe(name), str(part), None if instance is None else str(instance)):
        raise ValueError(name)
    x, y, width, height = annotation["bbox"]
    centroid = (float(row["centroid_x"]), float(row["centroid_y"]))
    return PartGeometry(part, annotation["area"], centroid, (x, y, width, height), instance)
