"""The benchmark data sets: one class a file, all behind `PartDataset`."""

from partdino.evaluation.datasets.base import (
    DatasetIdentity,
    KeypointSample,
    MaskSample,
    PartDataset,
    Sample,
    Split,
)
from partdino.evaluation.datasets.celeba import Celeba
from partdino.evaluation.datasets.coco_parts import CocoParts
from partdino.evaluation.datasets.cub import Cub
from partdino.evaluation.datasets.object_masks import ObjectMasks
from partdino.evaluation.datasets.partimagenet_ood import PartImageNetOOD
from partdino.evaluation.datasets.partimagenet_seg import PartImageNetSeg

__all__ = [
    "Celeba",
    "CocoParts",
    "Cub",
    "DatasetIdentity",
    "KeypointSample",
    "MaskSample",
    "ObjectMasks",
    "PartDataset",
    "PartImageNetOOD",
    "PartImageNetSeg",
    "Sample",
    "Split",
]
