"""CUB-200-2011 (Wah et al. 2011): birds with 15 keypoints and a box."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from partdino.errors import DatasetError
from partdino.evaluation.datasets.base import (
    DatasetIdentity,
    KeypointSample,
    Split,
    digest,
    read_table,
    refuse_empty,
    require,
)

_CURE = "unpack CUB_200_2011.tgz (data.caltech.edu/records/65de6-vp158) and give its CUB_200_2011"
_OFFICIAL = {"fit": 5994, "score": 5794}
_FILES = {
    "images.txt": (int, str),
    "train_test_split.txt": (int, int),
    "bounding_boxes.txt": (int, float, float, float, float),
    "parts/parts.txt": (int, str),
    "parts/part_locs.txt": (int, int, float, float, int),
}


class Cub:
    """CUB-200-2011 in its original layout.

    Parameters
    ----------
    root
        The folder ``CUB_200_2011``.

    Raises
    ------
    DatasetError
        A file is missing or malformed, or no image is there.

    Notes
    -----
    Parts and the regression are fitted on the train split; the test split is scored.
    """

    kind: Literal["keypoints"] = "keypoints"

    def __init__(self, root: Path) -> None:
        root = Path(root)
        files = [require(root, [name], _CURE) for name in _FILES]
        images, splits, boxes, parts, locations = (
            read_table(path, types, _CURE)
            for path, types in zip(files, _FILES.values(), strict=True)
        )
        self.part_names = tuple(name for _, name in sorted(parts))
        train = {key: flag == 1 for key, flag in splits}
        box = {row[0]: np.array(row[1:]) for row in boxes}
        points = _points_by_image(locations, sorted(number for number, _ in parts))
        for table, name in ((train, files[1]), (box, files[2]), (points, files[4])):
            _require_ids(images, table, name)
        self._samples: dict[Split, list[KeypointSample]] = {"fit": [], "score": []}
        for key, name in images:
            path = root / "images" / name
            if path.is_file():
                sample = KeypointSample(name, path, *points[key], _checked_box(box[key], files[2]))
                self._samples["fit" if train[key] else "score"].append(sample)
        counts: dict[str, int] = {split: len(found) for split, found in self._samples.items()}
        self._samples["regression"] = self._samples["fit"]
        refuse_empty(root / "images", sum(counts.values()), _CURE)
        missing = len(images) - sum(counts.values())
        self.identity = DatasetIdentity("CUB-200-2011", counts, _OFFICIAL, missing, digest(files))

    def samples(self, split: Split) -> Sequence[KeypointSample]:
        """Return the samples of a split, in the order of ``images.txt``."""
        return self._samples[split]


def _points_by_image(
    rows: list[tuple], numbers: list[int]
) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Return keypoints (P, 2) and visibility (P,) by image; no line for a part: not visible."""
    place = {number: index for index, number in enumerate(numbers)}
    points: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for key, number, x, y, visible in rows:
        if key not in points:
            points[key] = np.zeros((len(place), 2)), np.zeros(len(place), bool)
        if number in place:
            keypoints, seen = points[key]
            keypoints[place[number]] = x, y
            seen[place[number]] = visible == 1
    return points


def _require_ids(images: list[tuple], table: dict, path: Path) -> None:
    absent = next((key for key, _ in images if key not in table), None)
    if absent is not None:
        raise DatasetError(f"{path}: nothing about image {absent} of images.txt; {_CURE}")


def _checked_box(box: np.ndarray, path: Path) -> np.ndarray:
    if min(box[2:]) <= 0:
        raise DatasetError(f"{path}: a box of {box[2]:g} x {box[3]:g} pixels; {_CURE}")
    return box
