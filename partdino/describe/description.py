"""A described image: all that the collection half of the method needs to know of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from partdino.images.decode import MAX_PIXELS

# Of the size that regions are made at, by the bounds of its option: what numbers can be, so that
# no array that is made by them fills the memory.
_MOST_PIXELS = 2 * 8192**2


@dataclass(frozen=True, eq=False)
class ImageDescription:
    """All that clustering and labelling need to know of an image.

    Attributes
    ----------
    size
        (H, W) of the original, upright.
    cells
        int32 (h, w), numbered 0..C-1, the cell of every pixel at the size that regions are made at.
    regions
        int32 (C,), the region that each cell is (mostly) cut from.
    areas
        int64 (C,), pixels of that size.
    features
        float16 (C, D), the mean of the unit-length features in each cell.
    contrast
        float32 (C,), the mean `border_contrast` in each cell.
    edges, border_length, strength
        The graph of the cells: int32 (E, 2), int32 (E,) and float16 (E,), see `region_adjacency`.
        Without a boundary map, the strength is the share of the border between two regions.
    inside
        bool (C,), which cells a given mask marks as object; None without masks.
    patches
        float16 (gh, gw, D), the unit-length features before pooling; None unless asked for.
    sideless
        float16 (C, D), as `features` but alike on both sides of the object; None where `features`
        do not amplify the sides.
    colours
        float16 (C, 3), the mean colour of each cell in CIELAB; None in stores of version 0.1.
    border
        float16 (C,), the share of each cell that lies in the band around the image, see
        `border_contrast`; None in stores of version 0.1.
    hints
        int8 (C,), what a person says of each cell, see `partdino.describe.hints.PhotoHints`; None
        without hints.
    """

    size: tuple[int, int]
    cells: np.ndarray
    regions: np.ndarray
    areas: np.ndarray
    features: np.ndarray
    contrast: np.ndarray
    edges: np.ndarray
    border_length: np.ndarray
    strength: np.ndarray
    inside: np.ndarray | None = None
    patches: np.ndarray | None = None
    sideless: np.ndarray | None = None
    colours: np.ndarray | None = None
    border: np.ndarray | None = None
    hints: np.ndarray | None = None

    def check(self) -> None:
        """Raise `ValueError`, which says what is wrong, where this describes no image.

        What is read from a file may be whatever somebody wrote; types are those of the file format.
        """
        count = len(self.areas)
        expected = {
            "regions": (count,),
            "areas": (count,),
            "features": (count, *self.features.shape[1:2]),
            "contrast": (count,),
            "edges": (*self.edges.shape[:1], 2),
            "border_length": self.edges.shape[:1],
            "strength": self.edges.shape[:1],
            "inside": (count,),
            "sideless": self.features.shape,
            "colours": (count, 3),
            "border": (count,),
            "hints": (count,),
        }
        for name, shape in expected.items():
            array = getattr(self, name)
            if array is not None and array.shape != shape:
                raise ValueError(f"{name} of shape {array.shape}")
        if self.features.ndim != 2 or 0 in self.features.shape or min(self.size) < 1:
            raise ValueError("no cells")
        if math.prod(self.size) > MAX_PIXELS:
            raise ValueError(f"a photo of {self.size[1]} x {self.size[0]} pixels")
        numbers = ("features", "contrast", "strength", "patches", "sideless", "colours", "border")
        for name in numbers:
            array = getattr(self, name)
            if array is not None and not np.isfinite(array).all():
                raise ValueError(f"{name} that are no numbers")
        total = self.areas.sum(dtype=float)
        if (self.areas < 1).any() or total > _MOST_PIXELS or (self.border_length < 0).any():
            raise ValueError("areas or lengths that cannot be")
        limits = {"regions": total, "edges": count, "cells": count}  # at most as many
        for name, limit in limits.items():
            array = getattr(self, name)
            if array is not None and not ((array >= 0) & (array < limit)).all():
                raise ValueError(f"{name} that there cannot be")
        if self.cells is not None and (self.cells.ndim != 2 or self.cells.size == 0):
            raise ValueError(f"cells of shape {self.cells.shape}")
        if self.patches is not None and self.patches.ndim != 3:
            raise ValueError(f"patches of shape {self.patches.shape}")

    @property
    def dense(self) -> np.ndarray:
        """float16 (gh, gw, D), `patches`; raises ValueError where they were not asked for."""
        if self.patches is None:
            raise ValueError("described without its patches")
        return self.patches

    @property
    def foreground_features(self) -> np.ndarray:
        """float16 (C, D), what tells object from background, on whichever side of the image."""
        return self.features if self.sideless is None else self.sideless
