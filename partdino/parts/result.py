"""The one result type: what the pipeline returns for an image and every output writer takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.ndimage import find_objects

from partdino.parts.instances import find_instances
from partdino.parts.pieces import Pieces

# Pixels counted at a time: bounds the memory of `part_geometry` on 100-megapixel label maps.
_BLOCK_PIXELS = 4_000_000


@dataclass(frozen=True, eq=False)
class PartSegmentation:
    """The parts of one image.

    Attributes
    ----------
    name
        The image's path relative to the input, posix separators, with extension: unique in a run.
    label_map
        uint8 (H, W) at the original size (after EXIF rotation): 0 = background, 1..K = parts.
    num_parts
        K, at most 255.
    confidence
        float32 (K,) in [0, 1]: mean confidence of the assignment over each part's area; 0 where the
        part is absent.
    typicality
        float32 (K,) in [0, 1]: how close this image's example of the part is to the part's
        centroid; 0 where the part is absent.
    foreground_found
        False where no foreground was found: the label map is then all background.
    foreground_confidence
        In [0, 1], see `partdino.parts.foreground.FoundObject`; None where it is not known.
    object_pieces
        How many connected pieces the foreground has, see `count_pieces`; None where it is not
        known.
    pieces
        What the label map is made of, where that was asked for.
    instances
        (H, W): 0 = background, 1..n = the objects, see `find_instances`, where that was asked for.
    """

    name: str
    label_map: np.ndarray
    num_parts: int
    confidence: np.ndarray
    typicality: np.ndarray
    foreground_found: bool
    foreground_confidence: float | None = None
    object_pieces: int | None = None
    pieces: Pieces | None = None
    instances: np.ndarray | None = None

    @property
    def size(self) -> tuple[int, int]:
        """(H, W) of the label map."""
        height, width = self.label_map.shape
        return height, width

    @cached_property
    def parts(self) -> list[PartGeometry]:
        """Where each part that is present lies, in order of part number; computed once.

        With `instances`, where each part of each object lies, one object after the other.
        """
        if self.instances is None:
            return part_geometry(self.label_map, self.num_parts)
        return _geometry_of_instances(self.label_map, self.instances, self.num_parts)

    @property
    def objects(self) -> int | None:
        """How many objects there are; None without `instances`."""
        return None if self.instances is None else int(self.instances.max(initial=0))

    def with_instances(self, least_share: float | None) -> PartSegmentation:
        """Return the same with `instances`, see `find_instances`; without, where that is None."""
        if least_share is None:
            return self
        return replace(self, instances=find_instances(self.label_map, least_share))


@dataclass(frozen=True)
class PartGeometry:
    """Where one part lies, in pixels of the original image.

    Attributes
    ----------
    part
        Part number, 1..K.
    area
        Number of pixels, above 0.
    centroid
        (x, y), pixel centres at half-integers.
    box
        (x, y, width, height), integers, COCO order.
    instance
        Which object's it is, 1..n; None where objects are not told apart.
    """

    part: int
    area: int
    centroid: tuple[float, float]
    box: tuple[int, int, int, int]
    instance: int | None = None

    def mask(self, result: PartSegmentation) -> np.ndarray:
        """Return bool (height, width) of `box`, where the result that it is of has the part."""
        x, y, width, height = self.box
        box = slice(y, y + height), slice(x, x + width)
        mask = result.label_map[box] == self.part
        if result.instances is None:
            return mask
        return mask & (result.instances[box] == self.instance)


def part_geometry(label_map: np.ndarray, num_parts: int) -> list[PartGeometry]:
    """Measure every part of a label map in one pass and bounded memory.

    Parameters
    ----------
    label_map
        uint8 (H, W): 0 = background, 1..K = parts.
    num_parts
        K, at least the largest label.

    Returns
    -------
    list of PartGeometry
        The parts present, in order of part number.
    """
    rows, columns = _count_labels(label_map, num_parts + 1)
    present = np.flatnonzero(rows[:, 1:].any(axis=0)) + 1
    return [_geometry(int(part), rows[:, part], columns[:, part]) for part in present]


def _geometry_of_instances(
    label_map: np.ndarray, instances: np.ndarray, num_parts: int
) -> list[PartGeometry]:
    found: list[PartGeometry] = []
    for instance, box in enumerate(find_objects(instances), start=1):
        rows, columns = box
        own = label_map[box] * (instances[box] == instance)
        for part in part_geometry(own, num_parts):
            x, y, width, height = part.box
            left, top = columns.start, rows.start
            centroid = (part.centroid[0] + left, part.centroid[1] + top)
            moved = (x + left, y + top, width, height)
            found.append(PartGeometry(part.part, part.area, centroid, moved, instance))
    return found


def _count_labels(label_map: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Pixels of every label in every row (H, size) and in every column (W, size)."""
    height, width = label_map.shape
    rows, columns = np.empty((height, size), np.int64), np.zeros((width, size), np.int64)
    step = max(1, _BLOCK_PIXELS // width)
    for top in range(0, height, step):
        block = label_map[top : top + step]
        by_row = block + size * np.arange(len(block))[:, None]
        by_column = block + size * np.arange(width)
        rows[top : top + step] = np.bincount(by_row.ravel(), minlength=len(block) * size).reshape(
            -1, size
        )
        columns += np.bincount(by_column.ravel(), minlength=width * size).reshape(-1, size)
    return rows, columns


def _geometry(part: int, rows: np.ndarray, columns: np.ndarray) -> PartGeometry:
    area = int(rows.sum())
    (y, height, centre_y), (x, width, centre_x) = _extent(rows), _extent(columns)
    return PartGeometry(part, area, (centre_x, centre_y), (x, y, width, height))


def _extent(counts: np.ndarray) -> tuple[int, int, float]:
    """First position, length and mean of the pixel centres along one axis."""
    occupied = np.flatnonzero(counts)
    first, last = int(occupied[0]), int(occupied[-1])
    mean = float(np.average(occupied + 0.5, weights=counts[occupied]))
    return first, last - first + 1, mean
