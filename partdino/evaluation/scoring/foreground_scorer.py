"""Scores of foregrounds, against masks of whole objects or against labels with gaps."""

from __future__ import annotations

import numpy as np

from partdino.evaluation.datasets import MaskSample
from partdino.evaluation.scoring.label_maps import resize_nearest
from partdino.metrics import (
    boundary_counts,
    boundary_f_score,
    boundary_tolerance,
    hull_counts,
    mask_counts,
    mask_iou,
    mask_precision_recall,
    worst_tenth,
)

_TOLERANCE = 0.01  # of the diagonal: outlines this near to each other agree


class ForegroundScorer:
    """Accumulates scores of foregrounds over photos with a mask of the whole object.

    A label map is compared at the size of the mask; whatever is not 0 in it is foreground.
    """

    def __init__(self) -> None:
        self._photos: list[dict[str, float]] = []

    def update(
        self, sample: MaskSample, labels: np.ndarray, parts: np.ndarray | None = None
    ) -> None:
        """Add an image, as `PixelScorer.update`; `parts` are of no use here."""
        true = sample.label_map() > 0
        predicted = resize_nearest(labels, true.shape) > 0
        counts = mask_counts(true, predicted)
        precision, recall = mask_precision_recall(counts)
        height, width = true.shape
        tolerance = boundary_tolerance(height, width, _TOLERANCE)
        outline = boundary_counts(true, predicted, tolerance)
        self._photos.append(
            {
                "object_iou": mask_iou(counts),
                "object_precision": precision,
                "object_recall": recall,
                "outline_f": boundary_f_score(outline),
            }
        )

    def merge(self, other: ForegroundScorer) -> None:
        """Add the images of another shard."""
        self._photos += other._photos

    def compute(self) -> dict[str, float]:
        """Return the scores, in percent: means over the photos, each of which counts alike.

        Returns
        -------
        dict of str to float
            ``object_iou``, ``object_iou_worst`` (of the worst tenth of the photos),
            ``object_precision``, ``object_recall`` and ``outline_f``, the boundary F-score at 1% of
            the diagonal; empty without any photo.
        """
        if not self._photos:
            return {}
        values = {name: [photo[name] for photo in self._photos] for name in self._photos[0]}
        scores = {name: 100 * float(np.mean(each)) for name, each in values.items()}
        return scores | {"object_iou_worst": 100 * worst_tenth(values["object_iou"])}


class CoverScorer:
    """Accumulates how well foregrounds cover objects whose labels have gaps.

    What is labelled should be foreground. Since labels lack pieces of the object, foreground is
    only held to their convex hull.
    """

    def __init__(self) -> None:
        self._recalls: list[float] = []
        self._outside = np.zeros(2, np.int64)

    def update(self, labelled: np.ndarray, foreground: np.ndarray) -> None:
        """Add an image by two bool (H, W) maps; one without any label says nothing."""
        if labelled.any():
            self._recalls.append(mask_precision_recall(mask_counts(labelled, foreground))[1])
            self._outside += hull_counts(labelled, foreground)

    def merge(self, other: CoverScorer) -> None:
        """Add the images of another shard."""
        self._recalls += other._recalls
        self._outside += other._outside

    def compute(self) -> dict[str, float]:
        """Return the scores, in percent.

        Returns
        -------
        dict of str to float
            ``object_recall``, the share of labelled pixels that are foreground, mean over the
            photos; ``object_recall_worst``, of the worst tenth of them; ``outside_hull``, the share
            of foreground outside the hull. Empty without any labelled photo.
        """
        if not self._recalls:
            return {}
        outside, everything = (int(count) for count in self._outside)
        return {
            "object_recall": 100 * float(np.mean(self._recalls)),
            "object_recall_worst": 100 * worst_tenth(self._recalls),
            "outside_hull": 100 * outside / max(everything, 1),
        }
