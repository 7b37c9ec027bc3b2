"""Photos with masks of their object: the ruler for the foreground."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from partdino.errors import DatasetError
from partdino.evaluation.datasets.base import (
    DatasetIdentity,
    MaskSample,
    Split,
    digest,
    refuse_empty,
    require,
)
from partdino.evaluation.datasets.frame import TURNED, stored_frame
from partdino.images import find_images
from partdino.images.masks import find_mask, read_mask

_CURE = "lay it out as images/NAME.jpg and masks/NAME.png (data/README.md)"


class ObjectMasks:
    """Photos with object masks.

    Photos are taken as `partdino segment` takes them, upright and in their own shape.

    Parameters
    ----------
    root
        Folder with ``images`` and ``masks``, which mirrors it (see `read_mask`); instead of
        ``masks``, label maps in ``labels``, whose parts together are the object. Photos without a
        mask are left out, and the identity says so.

    Raises
    ------
    DatasetError
        A folder is missing, or no photo has a mask.
    """

    kind: Literal["pixels"] = "pixels"
    part_names = ("object",)

    def __init__(self, root: Path) -> None:
        root = Path(root)
        images = require(root, ("images",), _CURE)
        masks = require(root, ("masks", "labels"), _CURE)
        files = [(Path(file.path), file.name) for file in find_images([images])]
        found = {name: find_mask(masks, name) for _, name in files}
        paths = [path for path in found.values() if path is not None]
        refuse_empty(root, len(paths), _CURE)
        self._samples = [_sample(p, name, masks) for p, name in files if found[name] is not None]
        notes: tuple[str, ...] = ()
        if without := len(files) - len(paths):
            notes = (f"{without} photos have no mask in {masks} and are left out",)
        counts = {"fit": len(paths), "score": len(paths)}
        self.identity = DatasetIdentity(root.resolve().name, counts, {}, 0, digest(paths), notes)

    def samples(self, split: Split) -> Sequence[MaskSample]:
        """Return all photos in the order of their names: what is fitted sees no mask."""
        return self._samples if split != "regression" else []


def _sample(path: Path, name: str, masks: Path) -> MaskSample:
    try:
        size, orientation = stored_frame(path)
    except DatasetError:  # the image fails when it is read, and says why
        size, orientation = (1, 1), 1
    size = size[::-1] if orientation in TURNED else size
    draw = partial(_draw, masks, name, size)
    return MaskSample(name, path, size, draw, upright=True, squeezed=False)


def _draw(masks: Path, name: str, size: tuple[int, int]) -> np.ndarray:
    return read_mask(masks, name, size, size).astype(np.uint8)
