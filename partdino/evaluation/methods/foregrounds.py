"""The ways to find the foreground that are compared, all with the same features.

- ``partdino``: this package's.
- ``contrast``: regions that are unlike the border of their own photo, without learning from others.
- ``ncut``: a normalised cut of each photo's graph of patches, as TokenCut (Wang et al. 2022).
- ``everything``: all is object, the sanity floor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from scipy.ndimage import label
from scipy.sparse.linalg import eigsh

from partdino.describe.description import ImageDescription
from partdino.engine.threads import one_thread
from partdino.evaluation.methods.fitting import Variant
from partdino.evaluation.scoring.tally import Maps
from partdino.method import Method
from partdino.options import SettledOptions
from partdino.parts.fitting import find_foreground
from partdino.parts.foreground import foreground_cells, pool_regions, select_foreground
from partdino.runs.store import DescriptionStore

# Of TokenCut: patches whose cosine is above the first are bound by 1, others by the second.
_ALIKE = 0.2
_WEAK = 1e-5


@dataclass(frozen=True, eq=False)
class FittedForegrounds:
    """The ways by name: each makes a bool (h, w) map of a description."""

    ways: Mapping[str, Callable[[ImageDescription], np.ndarray]]

    def label(self, description: ImageDescription) -> Iterator[tuple[Variant, Maps]]:
        """Yield the foreground of every way as a label map, uint8 (h, w)."""
        for name, way in self.ways.items():
            yield Variant(name, None, None), (way(description).astype(np.uint8), None)


@one_thread()
def fit_foregrounds(
    cache: DescriptionStore, keys: Sequence[str], options: SettledOptions
) -> FittedForegrounds:
    """Learn what there is to be learnt of the descriptions of a collection."""
    method = options.numbers
    model = find_foreground(cache, keys, options)

    def found(description: ImageDescription) -> np.ndarray:
        return foreground_cells(description, model, method)[description.cells]

    return FittedForegrounds(
        {
            "partdino": found,
            "contrast": lambda description: by_contrast(description, method),
            "ncut": by_normalised_cut,
            "everything": lambda description: np.ones(description.cells.shape, bool),
        }
    )


def by_contrast(description: ImageDescription, method: Method) -> np.ndarray:
    """Return bool (h, w), the regions whose contrast to the photo's border is large."""
    _, contrast, areas = pool_regions(description)
    score = contrast - (method.object_contrast + method.background_contrast) / 2
    return select_foreground(score, areas, method)[description.regions][description.cells]


def by_normalised_cut(description: ImageDescription) -> np.ndarray:
    """Return bool (h, w), the object by a normalised cut of the graph of patches.

    The second eigenvector is cut at its mean. The side of its largest entry is object, and of that
    the connected piece which has this entry.
    """
    rows, columns, dim = description.dense.shape
    patches = description.dense.reshape(-1, dim).astype(np.float32)
    graph = np.where(patches @ patches.T > _ALIKE, 1.0, _WEAK)
    scale = 1 / np.sqrt(graph.sum(axis=1))
    start = np.arange(1.0, 1 + len(scale))  # fixed: ARPACK would take a random one
    _, vectors = eigsh(graph * scale[:, None] * scale, k=2, which="LA", v0=start)
    second = vectors[:, 0] * scale
    top = np.abs(second).argmax()
    side = second > second.mean()
    pieces, _ = label((side == side[top]).reshape(rows, columns))
    piece = (pieces == pieces.flat[top]).astype(np.float32)
    height, width = description.cells.shape
    return cv2.resize(piece, (width, height), interpolation=cv2.INTER_LINEAR) > 0.5
