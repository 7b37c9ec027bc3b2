"""Any COCO-format part data set: ``annotations/train.json`` and ``test.json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal

from partdino.errors import DatasetError
from partdino.evaluation.datasets.base import (
    DatasetIdentity,
    MaskSample,
    Split,
    digest,
    refuse_empty,
)
from partdino.evaluation.datasets.coco import coco_samples, is_open, read_coco

_CURE = "lay it out as annotations/{train,test}.json and images/{train,test} (data/README.md)"
_SPLITS = {"fit": "train", "score": "test"}


class CocoParts:
    """A part data set in COCO format.

    Parameters
    ----------
    root
        Folder with ``annotations/train.json`` and ``annotations/test.json`` and the images below
        ``images/train`` and ``images/test``. One of the two is enough: parts are then fitted on
        the scored images, and the identity says so.
    name
        Its name in results; by default the folder's.

    Raises
    ------
    DatasetError
        A file is missing or malformed, or no annotated image is there.
    """

    kind: Literal["pixels"] = "pixels"

    def __init__(self, root: Path, name: str | None = None) -> None:
        root = Path(root)
        paths = _annotation_files(root)
        files = {
            split: read_coco(path, _CURE, to_the_letter=False) for split, path in paths.items()
        }
        self.part_names = tuple(files[next(reversed(files))].categories.values())
        self._samples: dict[str, list[MaskSample]] = {}
        missing = 0
        for split, file in files.items():
            self._samples[split], absent = coco_samples(
                file, root, _SPLITS[split], to_the_letter=False
            )
            missing += absent
        refuse_empty(root, sum(map(len, self._samples.values())), _CURE)
        notes: tuple[str, ...] = ()
        if len(paths) == 1:
            (only,) = self._samples.values()
            self._samples = {"fit": only, "score": only}
            notes = ("one split only: parts are fitted on the scored images",)
        if number := sum(map(is_open, chain(*self._samples.values()))):
            notes += (
                f"{number} photos have an EXIF orientation that leaves their size as it is: their "
                "annotations are taken to be upright, as most tools show them",
            )
        counts = {split: len(samples) for split, samples in self._samples.items()}
        self.identity = DatasetIdentity(
            name or root.resolve().name, counts, {}, missing, digest([*paths.values()]), notes
        )

    def samples(self, split: Split) -> Sequence[MaskSample]:
        """Return the samples of a split, in the order of its annotation file."""
        return self._samples.get(split, [])


def _annotation_files(root: Path) -> Mapping[str, Path]:
    paths = {split: root / "annotations" / f"{name}.json" for split, name in _SPLITS.items()}
    there = {split: path for split, path in paths.items() if path.is_file()}
    if not there:
        raise DatasetError(f"{root}: no annotations/train.json or annotations/test.json; {_CURE}")
    return there
