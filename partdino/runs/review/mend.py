"""What a person gave other parts in one photo: pixels, run-length coded."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

NOT_GIVEN = -1
_LARGEST = 2**26  # pixels
_HASH = 16  # hex digits that tell the pieces of a photo from those of before


@dataclass(frozen=True)
class Mend:
    """Pixels of one photo that were given to parts by hand.

    Attributes
    ----------
    pieces
        Which pieces of the photo were mended, see `pieces_hash`: a photo that was labelled anew has
        others.
    size
        (h, w) of those pieces.
    given
        By part number, 0 = background: runs of pixels in reading order, each as how many pixels
        come between it and the one before, and how many it has. No pixel is given twice.
    """

    pieces: str
    size: tuple[int, int]
    given: Mapping[int, Sequence[int]]

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Mend:
        """Make a photo's entry of JSON; raises `ValueError`, `KeyError` and `TypeError`."""
        if unknown := set(said) - {"pieces", "size", "given"}:
            raise ValueError(f"a mended photo has no {min(unknown)}")
        height, width = said["size"]
        numbers = (height, width, *(n for runs in said["given"].values() for n in runs))
        if not isinstance(said["pieces"], str) or any(type(n) is not int for n in numbers):
            raise ValueError("pixels are given as whole numbers")
        given = {int(part): tuple(runs) for part, runs in said["given"].items()}
        mend = cls(said["pieces"], (height, width), given)
        if min(height, width) < 1 or height * width > _LARGEST:
            raise ValueError("no photo has pieces of that size")
        if not given or any(map(_is_no_code, given.values())):
            raise ValueError("pixels are given as runs: how many between, how many")
        mend.pixels()
        return mend

    @cached_property
    def word(self) -> str:
        """What tells this from what else may be mended of a photo."""
        return hashlib.sha256(json.dumps(self.document()).encode()).hexdigest()[:_HASH]

    def document(self) -> dict[str, Any]:
        """Return what `review.json` holds of the photo."""
        given = {str(part): list(self.given[part]) for part in sorted(self.given)}
        return {"pieces": self.pieces, "size": list(self.size), "given": given}

    def pixels(self) -> np.ndarray:
        """Return int16 (h, w): the part that each pixel was given, 0 = background, or `NOT_GIVEN`.

        Raises
        ------
        ValueError
            A run leads out of the photo, or meets another one.
        """
        pixels = np.full(self.size[0] * self.size[1], NOT_GIVEN, np.int16)
        for part, runs in self.given.items():
            ends = np.cumsum(runs)
            if ends[-1] > len(pixels):
                raise ValueError("pixels are given that the photo lacks")
            for start, end in zip(ends[::2], ends[1::2], strict=True):
                if (pixels[start:end] != NOT_GIVEN).any():
                    raise ValueError("a pixel is given twice")
                pixels[start:end] = part
        return pixels.reshape(self.size)


def runs_of(mask: np.ndarray) -> tuple[int, ...]:
    """Return the runs of a bool (h, w) mask, as `Mend` has them.

    Examples
    --------
    >>> runs_of(np.array([[0, 1, 1], [1, 0, 1]], bool))
    (1, 3, 1, 1)
    """
    changes = np.flatnonzero(np.diff(mask.ravel().astype(np.int8), prepend=0, append=0))
    return tuple(np.diff(changes, prepend=0).tolist())


def pieces_hash(content: bytes) -> str:
    """Return what names the pieces of a photo, of the content of its file."""
    return hashlib.sha256(content).hexdigest()[:_HASH]


def _is_no_code(runs: Sequence[int]) -> bool:
    """Whether numbers are no pairs of how many between, which may be 0 at first, and how many."""
    return not runs or len(runs) % 2 > 0 or min(runs[1:]) < 1 or runs[0] < 0
