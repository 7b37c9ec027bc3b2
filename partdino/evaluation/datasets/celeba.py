"""CelebA (Liu et al. 2015) with the MAFL lists: faces with five landmarks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from partdino.errors import ConfigError, DatasetError
from partdino.evaluation.datasets.base import (
    DatasetIdentity,
    KeypointSample,
    Split,
    digest,
    read_table,
    refuse_empty,
    require,
)

_CURE = (
    "get CelebA (mmlab.ie.cuhk.edu.hk/projects/CelebA.html) and the MAFL lists "
    "(github.com/zhzhanp/TCDCN-face-alignment)"
)
_OFFICIAL = {"regression": 19_000, "score": 1_000}
_ALIGNED = ("img_align_celeba", "list_landmarks_align_celeba.txt")
_IN_THE_WILD = ("img_celeba", "list_landmarks_celeba.txt")
_LISTS = ("MAFL_training.txt", "MAFL_testing.txt", "list_eval_partition.txt")
_TRAINING_PARTITION = 0


class Celeba:
    """CelebA, aligned or in the wild.

    Parameters
    ----------
    root
        The folder with images and lists, flat or with CelebA's ``Anno``, ``Eval`` and ``Img``.
    aligned
        Which of the two; by default the aligned one where its images are there.
    min_box_fraction
        In the wild, keep only faces whose box covers at least this share of the image, in [0, 1]
        (``list_bbox_celeba.txt``); some papers take 0.3. None keeps all.

    Raises
    ------
    DatasetError
        A file is missing or malformed, or no image is there.
    ConfigError
        ``min_box_fraction`` with aligned faces.

    Notes
    -----
    Parts are fitted on the training partition without MAFL, the regression on MAFL's training
    images; MAFL's testing images are scored. A copy without any other training image fits the parts
    on MAFL's training images, and its identity says so. The identity counts images before
    ``min_box_fraction``; a note counts those kept.
    """

    kind: Literal["keypoints"] = "keypoints"
    part_names = ("left_eye", "right_eye", "nose", "left_mouth", "right_mouth")

    def __init__(
        self, root: Path, aligned: bool | None = None, min_box_fraction: float | None = None
    ) -> None:
        root = Path(root)
        if aligned is None:
            aligned = any((root / place).is_dir() for place in _places(_ALIGNED[0]))
        if aligned and min_box_fraction is not None:
            raise ConfigError(f"{root}: aligned faces have no boxes; leave min_box_fraction out")
        folder_name, landmarks_name = _ALIGNED if aligned else _IN_THE_WILD
        folder = require(root, _places(folder_name), _CURE)
        files = [require(root, _places(name), _CURE) for name in (landmarks_name, *_LISTS)]
        names, notes = _split_names(*files[1:])
        faces = _read_faces(files[0], folder)
        refuse_empty(folder, len(faces), _CURE)
        self._samples = {
            split: [faces[name] for name in members if name in faces]
            for split, members in names.items()
        }
        counts = {split: len(samples) for split, samples in self._samples.items()}
        if min_box_fraction is not None:
            files.append(require(root, _places("list_bbox_celeba.txt"), _CURE))
            notes.append(self._keep_large(files[-1], min_box_fraction))
        name = "CelebA aligned" if aligned else "CelebA in the wild"
        missing = len(set().union(*names.values()) - faces.keys())
        self.identity = DatasetIdentity(
            name, counts, _OFFICIAL, missing, digest(files), tuple(notes)
        )

    def samples(self, split: Split) -> Sequence[KeypointSample]:
        """Return the samples of a split, in the order of its list."""
        return self._samples[split]

    def _keep_large(self, path: Path, fraction: float) -> str:
        """Drop the samples whose box is too small; return a note about those kept."""
        area = {row[0]: row[3] * row[4] for row in _read_counted(path, (str, *[float] * 4))}
        for split, samples in self._samples.items():
            self._samples[split] = [
                sample
                for sample in samples
                if area.get(sample.name, 0) >= fraction * math.prod(sample.size)
            ]
        kept = ", ".join(f"{len(samples)} {split}" for split, samples in self._samples.items())
        return f"only faces whose box covers {fraction:.0%} of the image: {kept} images"


def _places(name: str) -> list[str]:
    return [name, *(f"{folder}/{name}" for folder in ("Anno", "Eval", "Img"))]


def _read_counted(path: Path, types: Sequence[type]) -> list[tuple]:
    """Read a CelebA list: a line with the count, a header line, and the rows."""
    rows = read_table(path, types, _CURE, skip=2)
    with path.open(encoding="utf-8") as stream:
        count = stream.readline().strip()
    if count != str(len(rows)):
        raise DatasetError(f"{path}: says {count} rows and holds {len(rows)}; {_CURE}")
    return rows


def _split_names(
    training: Path, testing: Path, partition: Path
) -> tuple[dict[str, list[str]], list[str]]:
    """Return the file names of each split, and notes."""
    regression, score = (
        [name for (name,) in read_table(path, (str,), _CURE)] for path in (training, testing)
    )
    mafl = {*regression, *score}
    fit = [
        name
        for name, number in read_table(partition, (str, int), _CURE)
        if number == _TRAINING_PARTITION and name not in mafl
    ]
    notes = []
    if not fit:
        fit = regression
        notes.append("no training image outside MAFL: parts are fitted on MAFL's training images")
    return {"fit": fit, "regression": regression, "score": score}, notes


def _read_faces(landmarks: Path, folder: Path) -> dict[str, KeypointSample]:
    """Return a sample for every face whose image is there, by file name."""
    faces = {}
    for name, *coordinates in _read_counted(landmarks, (str, *[float] * 10)):
        path = folder / name
        if path.is_file():
            keypoints = np.array(coordinates).reshape(5, 2)
            faces[name] = KeypointSample(name, path, keypoints, np.ones(5, bool), box=None)
    return faces
