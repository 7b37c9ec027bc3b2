"""The benchmarks by the names of their commands: how each is opened and what its papers use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from partdino.errors import ConfigError
from partdino.evaluation.eval_options import EvalOptions

if TYPE_CHECKING:
    from partdino.evaluation.datasets import PartDataset


@dataclass(frozen=True)
class Benchmark:
    """One command of ``partdino eval``.

    Attributes
    ----------
    name
        Name of the command.
    summary
        One line for its help.
    kind
        What the parts are compared with; "foreground": there are none, only what is object.
    parts
        The numbers of parts that papers use.
    sizes
        The S (keypoints) or E (pixels) that papers use; the first is the default. None: masks are
        compared at their own size.
    protocol
        The options of `EvalOptions` under "Protocol" that this benchmark takes.
    open
        Opens the data set in a folder; raises `DatasetError` or `ConfigError`.
    """

    name: str
    summary: str
    kind: Literal["keypoints", "pixels", "foreground"]
    parts: tuple[int, ...]
    sizes: tuple[int, ...]
    protocol: tuple[str, ...]
    open: Callable[[Path, EvalOptions], PartDataset]


# Data sets are imported when one is opened: the help of the commands needs none of them.


def _cub(root: Path, options: EvalOptions) -> PartDataset:
    from partdino.evaluation.datasets import Cub

    return Cub(root)


def _celeba(root: Path, options: EvalOptions) -> PartDataset:
    from partdino.evaluation.datasets import Celeba

    return Celeba(root, options.aligned, options.min_box_fraction)


def _partimagenet_ood(root: Path, options: EvalOptions) -> PartDataset:
    from partdino.evaluation.datasets import PartImageNetOOD

    if options.split_file is None:
        raise ConfigError("partimagenet-ood needs --split-file, the list of its test images")
    return PartImageNetOOD(root, options.split_file)


def _partimagenet_seg(root: Path, options: EvalOptions) -> PartDataset:
    from partdino.evaluation.datasets import PartImageNetSeg

    return PartImageNetSeg(root)


def _coco_parts(root: Path, options: EvalOptions) -> PartDataset:
    from partdino.evaluation.datasets import CocoParts

    return CocoParts(root)


def _masks(root: Path, options: EvalOptions) -> PartDataset:
    from partdino.evaluation.datasets import ObjectMasks

    return ObjectMasks(root)


# Those with parts, for type checkers and the command line.
BenchmarkName = Literal["cub", "celeba", "partimagenet-ood", "partimagenet-seg", "coco-parts"]

_PIXELS = (128, 224)

BENCHMARKS = {
    benchmark.name: benchmark
    for benchmark in (
        Benchmark(
            "cub",
            "CUB-200-2011: birds with 15 keypoints. ROOT is the folder CUB_200_2011.",
            "keypoints",
            (4, 8, 16),
            (448,),
            ("size",),
            _cub,
        ),
        Benchmark(
            "celeba",
            "CelebA with the MAFL lists: faces with 5 landmarks, aligned or in the wild.",
            "keypoints",
            (4, 8, 16),
            (224,),
            ("size", "aligned", "min_box_fraction"),
            _celeba,
        ),
        Benchmark(
            "partimagenet-ood",
            "PartImageNet-OOD: the official train file, cut in two by --split-file.",
            "pixels",
            (8, 25, 50),
            _PIXELS,
            ("eval_size", "split_file"),
            _partimagenet_ood,
        ),
        Benchmark(
            "partimagenet-seg",
            "PartImageNet-Seg: the official train and test files with 40 parts.",
            "pixels",
            (8, 16, 25, 41, 50),
            _PIXELS,
            ("eval_size",),
            _partimagenet_seg,
        ),
        Benchmark(
            "coco-parts",
            "Any part data set in COCO format: categories are parts.",
            "pixels",
            (8,),
            _PIXELS,
            ("eval_size", "split"),
            _coco_parts,
        ),
        Benchmark(
            "masks",
            "Any photos with masks of their object: how well the foreground is found.",
            "foreground",
            (),
            (),
            (),
            _masks,
        ),
    )
}
