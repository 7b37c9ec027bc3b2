"""From a described image and a fitted model to the label map at the size of the photo."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partdino.describe.description import ImageDescription
from partdino.describe.regions import RegionBlend
from partdino.parts.borders import smooth_borders
from partdino.parts.instances import count_pieces
from partdino.parts.label_map import resize_label_map
from partdino.parts.model import PartModel
from partdino.parts.outline import refine_outline
from partdino.parts.pieces import Pieces
from partdino.parts.projection import object_mean
from partdino.parts.result import PartSegmentation
from partdino.parts.smoothing import smooth_cells


@dataclass(frozen=True, eq=False)
class PixelLabels:
    """The parts of the pixels of one image, at the size that regions are made at.

    Attributes
    ----------
    foreground
        bool (h, w).
    best
        uint8 (h, w): the part that fits best, 1..K, also where it is background; 0 where what
        fits best is no part, by the model's `naming`. Borders inside the object are smoothed.
    score
        float32 (h, w) in [-1, 1], the best of all parts.
    confidence
        float32 (h, w) in (0, 1]: the softmax of the scores at the best one. 1 means that no other
        part is near, 1 / C that it could be any of C parts.
    cosines
        float64 (C, M), between each cell and each centroid of the model.
    foreground_confidence
        Of `partdino.parts.foreground.FoundObject`.
    """

    foreground: np.ndarray
    best: np.ndarray
    score: np.ndarray
    confidence: np.ndarray
    cosines: np.ndarray
    foreground_confidence: float | None

    @property
    def part(self) -> np.ndarray:
        """uint8 (h, w): 0 = background, 1..K = parts."""
        return self.best * self.foreground


def label_pixels(description: ImageDescription, model: PartModel) -> PixelLabels:
    """Find the part of every pixel, whether object or not."""
    method = model.options.numbers
    model.check_features(description)
    found = model.find_object(description)
    inside = found.inside
    ours = inside if inside.any() else np.ones_like(inside)
    features = smooth_cells(description, inside, method)
    mean = object_mean(features[ours], description.areas[ours])
    cosines = model.parts.cosines(features, mean)
    scores = model.parts.of_parts(cosines).astype(np.float32)
    cells = description.cells
    width = np.sqrt(cells.size) / method.lattice
    blend = RegionBlend(description.regions[cells], width)
    best = np.zeros(cells.shape, np.uint8)
    top = np.full(cells.shape, -np.inf, np.float32)
    total = np.zeros(cells.shape, np.float32)
    # One at a time: together they are large for many.
    for label, column in zip(model.labels, scores.T, strict=True):
        score = blend(column[cells])
        best[score > top] = label
        top = np.maximum(top, score)
        total += np.exp(score / method.temperature)
    confidence = np.exp(top / method.temperature) / total
    foreground = inside[cells]
    best = smooth_borders(best, foreground, method.border_blur * width)
    return PixelLabels(foreground, best, top, confidence, cosines, found.confidence)


def label_image(
    name: str,
    description: ImageDescription,
    model: PartModel,
    with_pieces: bool = False,
    photo: np.ndarray | None = None,
) -> PartSegmentation:
    """Label one image.

    Parameters
    ----------
    name
        The image's name in the run.
    description, model
        Made with the same options and backbone.
    with_pieces
        Whether the result has its `pieces`.
    photo
        The image, uint8 (h, w, 3) RGB, if the outline is to follow its edges; see
        `outline_pixels`.

    Returns
    -------
    PartSegmentation
        At the original size of the image.
    """
    labels = label_pixels(description, model)
    part, num_parts = labels.part, model.options.parts
    return PartSegmentation(
        name=name,
        label_map=resize_label_map(
            part if photo is None else refine_outline(part, photo), description.size
        ),
        num_parts=num_parts,
        confidence=_mean_by_part(labels.confidence, part, num_parts),
        typicality=_mean_by_part(labels.score.clip(0), part, num_parts),
        foreground_found=bool(part.any()),
        foreground_confidence=labels.foreground_confidence,
        object_pieces=count_pieces(part > 0, model.options.numbers.least_piece),
        pieces=Pieces.of(description, model, labels.cosines, part) if with_pieces else None,
    )


def outline_pixels(description: ImageDescription, model: PartModel, side: int) -> int:
    """Return how many pixels of the photo outlines are refined on.

    Parameters
    ----------
    description, model
        Of the photo, and what labels it.
    side
        The most pixels that its longer side may have.

    Returns
    -------
    int
        0 where there is no outline to refine: it is that of a mask, or all is object.
    """
    if description.inside is not None or model.foreground is None or side == 0:
        return 0
    scale = min(1.0, side / max(description.size))
    height, width = (max(1, round(length * scale)) for length in description.size)
    return height * width


def _mean_by_part(values: np.ndarray, part: np.ndarray, num_parts: int) -> np.ndarray:
    """Return float32 (K,), the mean of (h, w) values over each part; 0 where it is absent."""
    count = np.bincount(part.ravel(), minlength=num_parts + 1)[1:]
    total = np.bincount(part.ravel(), values.ravel(), minlength=num_parts + 1)[1:]
    return (total / np.maximum(count, 1)).astype(np.float32)
