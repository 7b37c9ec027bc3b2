"""From a described image and a fitted model to the label map at the size of the photo.

A pixel's score for a part is the mean of two cosines: that of its region, whose feature is clean
but one for the whole region, and that of the patches around it, whose features are blurred but
follow what the region's even colour hides.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from partdino.clustering import object_mean
from partdino.description import ImageDescription
from partdino.labelmap import resize_label_map
from partdino.model import PartModel, foreground_regions
from partdino.result import PartSegmentation

_REGION_SHARE = 0.5  # weight of the region's cosine against that of the patches
# Sharpness of the confidence: a score that is lower by 0.1 counts 1 / e.
_TEMPERATURE = 0.1


@dataclass(frozen=True, eq=False)
class PixelLabels:
    """The parts of the pixels of one image, at the size that regions are made at.

    Attributes
    ----------
    foreground
        bool (h, w).
    best
        uint8 (h, w): the part that fits best, 1..K, also where it is background.
    score
        float32 (h, w) in [-1, 1], of the best part.
    confidence
        float32 (h, w) in (0, 1]: the softmax of the scores at the best part. 1 means that no other
        part is near, 1 / C that it could be any of C parts.
    """

    foreground: np.ndarray
    best: np.ndarray
    score: np.ndarray
    confidence: np.ndarray

    @property
    def part(self) -> np.ndarray:
        """uint8 (h, w): 0 = background, 1..K = parts."""
        return self.best * self.foreground


def label_pixels(description: ImageDescription, model: PartModel) -> PixelLabels:
    """Find the part of every pixel, whether object or not."""
    inside = foreground_regions(description, model.foreground)
    ours = inside if inside.any() else np.ones_like(inside)
    mean = object_mean(description.features[ours], description.areas[ours])
    rows, columns, dim = description.patches.shape
    regions = model.parts.similarities(description.features, mean)
    patches = model.parts.similarities(description.patches.reshape(-1, dim), mean)
    best, score, confidence = _best_part(
        regions.astype(np.float32),
        patches.reshape(rows, columns, -1).astype(np.float32),
        description.regions,
    )
    return PixelLabels(inside[description.regions], best, score, confidence)


def _best_part(
    region_scores: np.ndarray, patch_scores: np.ndarray, regions: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mix (R, C) and (gh, gw, C) scores, part by part: together they are large for many parts."""
    width_height = regions.shape[::-1]
    best = np.zeros(regions.shape, np.uint8)
    top = np.full(regions.shape, -np.inf, np.float32)
    total = np.zeros(regions.shape, np.float32)
    for part in range(region_scores.shape[1]):
        grid = np.ascontiguousarray(patch_scores[..., part])
        score = (1 - _REGION_SHARE) * cv2.resize(grid, width_height, interpolation=cv2.INTER_LINEAR)
        score += _REGION_SHARE * region_scores[:, part][regions]
        best[score > top] = part + 1
        top = np.maximum(top, score)
        total += np.exp(score / _TEMPERATURE)
    return best, top, np.exp(top / _TEMPERATURE) / total


def label_image(name: str, description: ImageDescription, model: PartModel) -> PartSegmentation:
    """Label one image.

    Parameters
    ----------
    name
        The image's name in the run.
    description, model
        Made with the same options and backbone.

    Returns
    -------
    PartSegmentation
        At the original size of the image.
    """
    labels = label_pixels(description, model)
    part, num_parts = labels.part, model.options.parts
    return PartSegmentation(
        name=name,
        label_map=resize_label_map(part, description.size),
        num_parts=num_parts,
        confidence=_mean_by_part(labels.confidence, part, num_parts),
        typicality=_mean_by_part(labels.score.clip(0), part, num_parts),
        foreground_found=bool(labels.foreground.any()),
    )


def _mean_by_part(values: np.ndarray, part: np.ndarray, num_parts: int) -> np.ndarray:
    """Return float32 (K,), the mean of (h, w) values over each part; 0 where it is absent."""
    count = np.bincount(part.ravel(), minlength=num_parts + 1)[1:]
    total = np.bincount(part.ravel(), values.ravel(), minlength=num_parts + 1)[1:]
    return (total / np.maximum(count, 1)).astype(np.float32)
