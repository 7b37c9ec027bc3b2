"""PartImageNet-Seg (He et al. 2022): the official train and test files with 40 parts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from partdino.evaluation.datasets.base import (
    DatasetIdentity,
    MaskSample,
    Split,
    digest,
    refuse_empty,
    require,
)
from partdino.evaluation.datasets.coco import coco_samples, read_coco

_CURE = "get PartImageNet_Seg (github.com/TACJu/PartImageNet) and give its folder"
_OFFICIAL = {"score": 2405}


class PartImageNetSeg:
    """PartImageNet-Seg.

    Parameters
    ----------
    root
        Folder with ``annotations/train.json`` and ``annotations/test.json`` (or one folder deeper,
        ``annotations/train/train.json``, or in ``root`` itself) and the images below
        ``images/train`` and ``images/test``, flat or in a folder for each class.

    Raises
    ------
    DatasetError
        A file is missing or malformed, or no annotated image is there.
    """

    kind: Literal["pixels"] = "pixels"

    def __init__(self, root: Path) -> None:
        root = Path(root)
        paths = {split: require(root, official_places(split), _CURE) for split in ("train", "test")}
        train, test = (read_coco(path, _CURE) for path in paths.values())
        self.part_names = tuple(test.categories.values())
        fit, fit_absent = coco_samples(train, root, "train")
        score, score_absent = coco_samples(test, root, "test")
        refuse_empty(root, len(fit) + len(score), _CURE)
        self._samples = {"fit": fit, "score": score}
        self.identity = DatasetIdentity(
            "PartImageNet-Seg",
            {"fit": len(fit), "score": len(score)},
            _OFFICIAL,
            fit_absent + score_absent,
            digest([*paths.values()]),
        )

    def samples(self, split: Split) -> Sequence[MaskSample]:
        """Return the samples of a split, in the order of its annotation file."""
        return self._samples.get(split, [])


def official_places(split: str) -> list[str]:
    """Return where the official releases and their mirrors keep the annotations of a split."""
    return [f"annotations/{split}.json", f"annotations/{split}/{split}.json", f"{split}.json"]
