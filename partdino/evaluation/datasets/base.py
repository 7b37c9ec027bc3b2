"""What every benchmark data set returns: typed samples in splits, and who it is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

import numpy as np

from partdino.errors import DatasetError
from partdino.images.decode import TooLargeError, open_image

#: Parts are fitted on "fit"; the keypoint regression on "regression"; "score" is scored.
Split: TypeAlias = Literal["fit", "regression", "score"]


@dataclass(frozen=True, eq=False)
class KeypointSample:
    """An image with keypoints.

    Attributes
    ----------
    name
        Path in the data set's image folder, posix separators, with extension.
    path
        The image file.
    keypoints
        float64 (P, 2), (x, y) in pixels of the stored image.
    visible
        bool (P,).
    box
        float64 (4,), x, y, width, height of the object in pixels of the stored image, not always
        inside it: what the regression error is normalised by. None: by the distance between the
        first two keypoints, the eyes.
    """

    name: str
    path: Path
    keypoints: np.ndarray
    visible: np.ndarray
    box: np.ndarray | None

    @cached_property
    def size(self) -> tuple[int, int]:
        """Height and width of the stored image, read once from its header."""
        return image_size(self.path)


@dataclass(frozen=True, eq=False)
class MaskSample:
    """An image with a part mask.

    Attributes
    ----------
    name, path
        As for `KeypointSample`.
    size
        Height and width that the annotations are in.
    draw
        Returns the ground truth: uint8 or uint16 (H, W), 0 = background, 1..P = parts.
    upright
        Whether the annotations are in the frame that the photo's EXIF orientation makes, rather
        than that of the stored pixels.
    squeezed
        Whether the photo is taken as a square, as the protocols of part benchmarks do.
    """

    name: str
    path: Path
    size: tuple[int, int]
    draw: Callable[[], np.ndarray]
    upright: bool = False
    squeezed: bool = True

    def label_map(self) -> np.ndarray:
        """Draw the ground truth at the annotations' size: (H, W), 0 = background, 1..P = parts."""
        return self.draw()


Sample: TypeAlias = KeypointSample | MaskSample


@dataclass(frozen=True)
class DatasetIdentity:
    """Which copy of which data set was scored: what ``results.json`` says of it.

    Attributes
    ----------
    name
        Name of the benchmark.
    counts
        Images in each split.
    official
        The official number of images where it is known, keyed as ``counts``; empty for data without
        published numbers.
    missing
        Annotated images whose file is absent, left out.
    sha256
        Over the annotation files, in a fixed order.
    notes
        Lines a reader of the scores must know, beside incompleteness.
    """

    name: str
    counts: Mapping[str, int]
    official: Mapping[str, int]
    missing: int
    sha256: str
    notes: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether nothing is missing: only then do scores stand beside published ones."""
        return self.missing == 0 and all(
            self.counts.get(key, 0) == number for key, number in self.official.items()
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notes, after one line on what is missing where the copy is incomplete."""
        if self.complete:
            return self.notes
        parts = [
            f"{self.counts.get(key, 0):,} of {number:,} {key} images"
            for key, number in self.official.items()
            if self.counts.get(key, 0) != number
        ]
        if self.missing:
            parts.append(f"{self.missing:,} image files absent")
        line = f"{self.name}: incomplete copy ({', '.join(parts)}): "
        return (line + "not comparable with published numbers", *self.notes)


class PartDataset(Protocol):
    """A benchmark data set.

    Attributes
    ----------
    kind
        "keypoints": samples are `KeypointSample`; "pixels": they are `MaskSample`.
    part_names
        Names of the P keypoints or parts, in order.
    identity
        Counts and hash of this copy.
    """

    @property
    def kind(self) -> Literal["keypoints", "pixels"]: ...

    @property
    def part_names(self) -> tuple[str, ...]: ...

    @property
    def identity(self) -> DatasetIdentity: ...

    def samples(self, split: Split) -> Sequence[Sample]:
        """Return the samples of a split, in a fixed order; none where there is no such split."""
        ...


def image_size(path: Path) -> tuple[int, int]:
    """Return height and width of a stored image from its header.

    EXIF rotation is not applied, since annotations refer to the stored pixels.

    Raises
    ------
    DatasetError
        The file is no readable image.
    """
    try:
        with open_image(path) as image:
            return image.height, image.width
    except (OSError, TooLargeError) as error:
        raise DatasetError(f"{path}: not a readable image; restore it from the download") from error


def digest(paths: Sequence[Path]) -> str:
    """Return the sha256 over file names and contents, in the order given."""
    total = hashlib.sha256()
    for path in paths:
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        total.update(f"{path.name} {content}\n".encode())
    return total.hexdigest()


def require(root: Path, candidates: Sequence[str], cure: str) -> Path:
    """Return the first of some files or folders below ``root`` that exists.

    Raises
    ------
    DatasetError
        None does.
    """
    for candidate in candidates:
        if (root / candidate).exists():
            return root / candidate
    raise DatasetError(f"{root}: no {' or '.join(candidates)} in it; {cure}")


def read_table(path: Path, types: Sequence[type], cure: str, skip: int = 0) -> list[tuple]:
    """Read a text file of columns separated by blanks; the last column may hold blanks itself.

    Parameters
    ----------
    path
        The file.
    types
        Type of each column.
    cure
        What to do about a bad file, for the error.
    skip
        Number of header lines.

    Returns
    -------
    list of tuple
        One a line; empty lines are passed over.

    Raises
    ------
    DatasetError
        The file is missing, or a line has other columns.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path}: cannot be read as text; {cure}") from error
    rows = []
    for number, line in enumerate(lines[skip:], start=skip + 1):
        fields = line.strip().split(None, len(types) - 1)
        if not fields:
            continue
        try:
            rows.append(tuple(kind(text) for kind, text in zip(types, fields, strict=True)))
        except ValueError as error:
            wanted = " ".join(kind.__name__ for kind in types)
            raise DatasetError(f"{path}: line {number} is not '{wanted}'; {cure}") from error
    return rows


def refuse_empty(root: Path, found: int, cure: str) -> None:
    """Raise `DatasetError` where no annotated image is in the folder."""
    if found == 0:
        raise DatasetError(f"{root}: none of the annotated images is there; {cure}")
