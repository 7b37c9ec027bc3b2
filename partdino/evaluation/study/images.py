"""The images of a study: photos, or those of a benchmark."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from partdino.describe.source import Source
from partdino.errors import ConfigError, DatasetError
from partdino.evaluation.benchmarks import BENCHMARKS
from partdino.evaluation.datasets import MaskSample, PartDataset, Sample
from partdino.evaluation.eval_options import EvalOptions
from partdino.evaluation.methods.cache import image_key
from partdino.evaluation.methods.sources import as_source
from partdino.evaluation.study.study_options import StudyOptions
from partdino.images import find_images
from partdino.parts.sampling import spread

_SPLITS = {"all": ("fit", "score"), "train": ("fit",), "test": ("score",)}


@dataclass(frozen=True)
class StudyImage:
    """An image of a study.

    Attributes
    ----------
    name
        Unique in the study.
    key
        What its description is stored under: another one for another version of the file.
    source
        For `describe_images`.
    truth
        Returns the true parts, (H, W) of any size, 0 = not labelled; None where there are none.
    """

    name: str
    key: str
    source: Source
    truth: Callable[[], np.ndarray] | None = None


@dataclass(frozen=True)
class Collection:
    """The images of a study.

    Attributes
    ----------
    title
        Name of the data set, or "photos".
    images
        In a fixed order.
    masks
        Hash of the masks that are taken as the objects; None without masks.
    """

    title: str
    images: Sequence[StudyImage]
    masks: str | None


def open_photos(
    inputs: Sequence[Path], out: Path, options: StudyOptions, masks: Path | None
) -> Collection:
    """Find photos; raises `InputError` where there are none."""
    images = [
        StudyImage(file.name, _file_key(file.path), Source(file.name, file.path))
        for file in find_images(inputs, exclude=out)
    ]
    return Collection(
        "photos", spread(images, options.images), None if masks is None else _folder_sha256(masks)
    )


def open_benchmark(root: Path, options: StudyOptions) -> Collection:
    """Open a benchmark.

    Raises
    ------
    ConfigError, DatasetError
        It is not in this folder, it has no masks and they are wanted, or the split is empty.
    """
    protocol = EvalOptions(split_file=options.split_file)
    dataset = BENCHMARKS[options.benchmark].open(root, protocol)
    masked = options.foreground == "ground-truth"
    if masked and dataset.kind != "pixels":
        raise ConfigError(f"{options.benchmark} has keypoints, no masks: --foreground auto or none")
    samples = spread(_samples(dataset, options.split), options.images)
    if not samples:
        raise DatasetError(f"{root}: the {options.split} split has no image here; add its images")
    return Collection(
        dataset.identity.name,
        [_of_sample(sample, masked) for sample in samples],
        dataset.identity.sha256 if masked else None,
    )


def _samples(dataset: PartDataset, split: str) -> list[Sample]:
    """Return the samples of both splits or one; an image that is in both once."""
    samples = [sample for name in _SPLITS[split] for sample in dataset.samples(name)]
    return list({sample.name: sample for sample in samples}.values())


def _of_sample(sample: Sample, masked: bool) -> StudyImage:
    truth = sample.draw if isinstance(sample, MaskSample) else None
    return StudyImage(sample.name, image_key(sample), as_source(sample, masked), truth)


def _file_key(path: Path) -> str:
    """Name a version of a file, which may be missing: reading it will fail."""
    try:
        status = path.stat()
    except OSError:
        return f"{path}|missing"
    return f"{path.resolve()}|{status.st_size}|{status.st_mtime_ns}"


def _folder_sha256(folder: Path) -> str:
    """Hash which versions of which files a folder holds."""
    keys = (_file_key(path) for path in sorted(folder.rglob("*")) if path.is_file())
    return hashlib.sha256("\n".join(keys).encode("utf-8", "surrogatepass")).hexdigest()
