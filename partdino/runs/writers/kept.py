"""A result of which everything but the label map is in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from partdino.parts.result import PartGeometry


@dataclass(frozen=True, eq=False)
class KeptResult:
    """What the tables of a run hold of an image, in place of a `PartSegmentation`.

    Attributes
    ----------
    name, size, num_parts, confidence, typicality, parts
        As of `partdino.parts.result.PartSegmentation`; centroids to two decimals.
    annotations
        Of each part as ``coco.json`` has it, without ids and score.
    read
        Returns the label map, uint8 (H, W); may raise `OutputError`.
    """

    name: str
    size: tuple[int, int]
    num_parts: int
    confidence: np.ndarray
    typicality: np.ndarray
    parts: list[PartGeometry]
    annotations: list[dict[str, Any]]
    read: Callable[[], np.ndarray]

    @property
    def label_map(self) -> np.ndarray:
        """The label map: read whenever it is asked for, so that many results take no room."""
        return self.read()
