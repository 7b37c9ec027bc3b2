"""The benchmark data sets: one class a file, all behind `PartDataset`."""

from partdino.datasets.base import (
    DatasetIdentity,
    KeypointSample,
    MaskSample,
    PartDataset,
    Sample,
    Split,
)
from partdino.datasets.celeba import Celeba
from partdino.datasets.coco_parts import CocoParts
from partdino.datasets.cub import Cub
from partdino.datasets.partimagenet_ood import PartImageNetOOD
from partdino.datasets.partimagenet_seg import PartImageNetSeg

__all__ = [
    "Celeba",
    "CocoParts",
    "Cub",
    "DatasetIdentity",
    "KeypointSample",
    "MaskSample",
    "PartDataset",
    "PartImageNetOOD",
    "PartImageNetSeg",
    "Sample",
    "Split",
]
