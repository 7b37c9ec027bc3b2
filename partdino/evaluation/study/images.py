"""The images of a study: photos, or those of a benchmark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from partdino.describe.photos import find_photos
from partdino.describe.source import Source
from partdino.errors import ConfigError, DatasetError
from partdino.evaluation.benchmarks import BENCHMARKS
from partdino.evaluation.datasets import MaskSample, PartDataset, Sample, Split
from partdino.evaluation.eval_options import EvalOptions
from partdino.evaluation.methods.cache import sample_key
from partdino.evaluation.methods.sources import as_source
from partdino.evaluation.study.study_options import StudyOptions
from partdino.parts.sampling import evenly_spaced

_SPLITS: dict[str, tuple[Split, ...]] = {
    "all": ("fit", "score"),
    "train": ("fit",),
    "test": ("score",),
}


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
    annotations
        Hash of those that are taken as the objects; None without.
    """

    title: str
    images: Sequence[StudyImage]
    annotations: str | None


def open_photos(
    inputs: Sequence[Path], out: Path, options: StudyOptions, masks: Path | None
) -> Collection:
    """Find photos; raises `InputError` where there are none."""
    images = [
        StudyImage(photo.name, f"{photo.path} {photo.key}", Source(photo.name, photo.path))
        for photo in find_photos(inputs, out, masks)[0]
    ]
    return Collection("photos", evenly_spaced(images, options.images), None)


def open_benchmark(benchmark: str, root: Path, options: StudyOptions) -> Collection:
    """Open a benchmark, one of `BENCHMARKS`.

    Raises
    ------
    ConfigError, DatasetError
        It is not in this folder, it has no masks and they are wanted, or the split is empty.
    """
    protocol = EvalOptions(split_file=options.split_file)
    dataset = BENCHMARKS[benchmark].open(root, protocol)
    masked = options.foreground == "ground-truth"
    if masked and dataset.kind != "pixels":
        raise ConfigError(f"{benchmark} has keypoints, no masks: --foreground auto or none")
    samples = evenly_spaced(_samples(dataset, options.split), options.images)
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
    return StudyImage(sample.name, sample_key(sample), as_source(sample, masked), truth)
