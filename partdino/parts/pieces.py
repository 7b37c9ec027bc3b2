"""What a label map is made of: what it takes to divide it otherwise later, without the features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partdino.describe.description import ImageDescription
from partdino.parts.model import PartModel


@dataclass(frozen=True, eq=False)
class Pieces:
    """The regions and the codebook clusters of one image, at the size that regions are made at.

    Attributes
    ----------
    regions
        uint16 (h, w), from 0. Beyond 65,536 of them numbers come again.
    clusters
        uint16 (h, w): 0 = background, else 1 + the place of a centroid in the model's `centroids`,
        the one that the pixel's cell is most like of those of the pixel's part.
    """

    regions: np.ndarray
    clusters: np.ndarray

    @classmethod
    def of(
        cls,
        description: ImageDescription,
        model: PartModel,
        cosines: np.ndarray,
        part: np.ndarray,
    ) -> Pieces:
        """Return the pieces of a label map.

        Parameters
        ----------
        description, model
            What was labelled, and with what.
        cosines
            float (C, M), between each cell and each centroid.
        part
            uint8 (h, w): 0 = background, 1..K = parts.
        """
        cells, parts = description.cells, model.parts.parts
        nearest = [
            np.where(parts == each, cosines, -np.inf).argmax(axis=1)
            for each in range(len(model.parts))
        ]
        of_part = np.stack([np.full(len(cosines), -1), *nearest])
        clusters = of_part[part, cells] + 1
        regions = description.regions[cells]
        return cls(regions.astype(np.uint16), clusters.astype(np.uint16))

    def labels(self, parts: np.ndarray) -> np.ndarray:
        """Return uint8 (h, w), the labels where each centroid is of the part (M,), 1..K."""
        return np.append(0, parts).astype(np.uint8)[self.clusters]
