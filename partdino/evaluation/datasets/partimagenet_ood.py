"""PartImageNet-OOD (He et al. 2022): the official train file, cut in two by a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Literal

from partdino.errors import DatasetError
from partdino.evaluation.datasets.base import (
    DatasetIdentity,
    MaskSample,
    Split,
    digest,
    read_table,
    refuse_empty,
    require,
)
from partdino.evaluation.datasets.coco import CocoImage, coco_samples, read_coco
from partdino.evaluation.datasets.partimagenet_seg import official_places

_CURE = "get PartImageNet_OOD (github.com/TACJu/PartImageNet) and give its folder"
_LIST_CURE = "its lines are: image_id is_test label_id label_name image_name"
_OFFICIAL = {"score": 1658}


class PartImageNetOOD:
    """PartImageNet-OOD.

    Parameters
    ----------
    root
        Folder with the official ``annotations/train.json`` (or one folder deeper,
        ``annotations/train/train.json``, or in ``root`` itself) and the images below
        ``images/train``, flat or in a folder for each class.
    split_file
        The list that cuts the train file in two; its lines are ``image_id``, ``is_test``,
        ``label_id``, ``label_name``, ``image_name``.

    Raises
    ------
    DatasetError
        A file is missing or malformed, or no listed image is there.
    """

    kind: Literal["pixels"] = "pixels"

    def __init__(self, root: Path, split_file: Path) -> None:
        root, split_file = Path(root), Path(split_file)
        is_test = _read_list(split_file)
        path = require(root, official_places("train"), _CURE)
        file = read_coco(path, _CURE)
        self.part_names = tuple(file.categories.values())
        self._samples: dict[str, list[MaskSample]] = {}
        missing = 0
        for split, wanted in (("fit", False), ("score", True)):
            images = [image for image in file.images if is_test.get(_base(image)) is wanted]
            self._samples[split], absent = coco_samples(replace(file, images=images), root, "train")
            missing += absent
        counts = {split: len(samples) for split, samples in self._samples.items()}
        refuse_empty(root, sum(counts.values()), _CURE)
        self.identity = DatasetIdentity(
            "PartImageNet-OOD", counts, _OFFICIAL, missing, digest([path, split_file])
        )

    def samples(self, split: Split) -> Sequence[MaskSample]:
        """Return the samples of a split, in the order of the annotation file."""
        return self._samples.get(split, [])


def _base(image: CocoImage) -> str:
    return PurePosixPath(image.file_name).name


def _read_list(path: Path) -> dict[str, bool]:
    """Return whether each image, by its file's base name, is a test image."""
    rows = read_table(path, (int, int, int, str, str), _LIST_CURE)
    if not rows:
        raise DatasetError(f"{path}: is empty; {_LIST_CURE}")
    return {PurePosixPath(row[-1].replace("\\", "/")).name: row[1] == 1 for row in rows}
