"""Scores of label maps against part masks: PartImageNet and any COCO-format part data set."""

from __future__ import annotations

import numpy as np

from partdino.evaluation.datasets import MaskSample
from partdino.evaluation.scoring.agreement import agreement
from partdino.evaluation.scoring.foreground_scorer import CoverScorer
from partdino.evaluation.scoring.label_maps import resize_nearest
from partdino.metrics import (
    add_padded,
    boundary_band,
    boundary_counts,
    boundary_f_score,
    boundary_tolerance,
    contingency_table,
    mean_iou_from_contingency,
)

_BAND_WIDTH = 5


class PixelScorer:
    """Accumulates pixel scores over the scored images.

    Parameters
    ----------
    grid
        E: ground truth and label maps are compared at E x E pixels; None: at the size of the
        ground truth.
    labelled_only
        Score only pixels that the ground truth gives a part, to separate the quality of parts from
        that of the foreground.
    """

    def __init__(self, grid: int | None = 128, labelled_only: bool = False) -> None:
        self.grid = grid
        self.labelled_only = labelled_only
        self.table = np.zeros((1, 1), np.int64)
        self.foreground_table = np.zeros((0, 0), np.int64)
        self.band_table = np.zeros((1, 1), np.int64)
        self.boundary = np.zeros(4, np.int64)
        self.cover = CoverScorer()

    def update(
        self, sample: MaskSample, labels: np.ndarray, parts: np.ndarray | None = None
    ) -> None:
        """Add an image.

        Parameters
        ----------
        sample
            The image and its part mask.
        labels
            The label map with background, integer (h, w) of any size: 0 = background, 1..K = parts.
        parts
            The label map without background: every pixel's best part, 1..K.
        """
        size = sample.size if self.grid is None else (self.grid, self.grid)
        true = resize_nearest(sample.label_map(), size)
        labels = resize_nearest(labels, size)
        valid = true > 0 if self.labelled_only else np.ones(size, bool)
        self.table = add_padded(self.table, contingency_table(true[valid], labels[valid]))
        band = boundary_band(true, _BAND_WIDTH, valid)
        self.band_table = add_padded(self.band_table, contingency_table(true[band], labels[band]))
        self.boundary += boundary_counts(true, labels, boundary_tolerance(*size), valid)
        if not self.labelled_only:
            self.cover.update(true > 0, labels > 0)
        if parts is not None:
            parts = resize_nearest(parts, size)
            counts = contingency_table(true[true > 0], parts[true > 0])
            self.foreground_table = add_padded(self.foreground_table, counts)

    def merge(self, other: PixelScorer) -> None:
        """Add the images of another shard."""
        self.table = add_padded(self.table, other.table)
        self.foreground_table = add_padded(self.foreground_table, other.foreground_table)
        self.band_table = add_padded(self.band_table, other.band_table)
        self.boundary += other.boundary
        self.cover.merge(other.cover)

    def compute(self) -> dict[str, float]:
        """Return the scores, in percent.

        Returns
        -------
        dict of str to float
            ``nmi``, ``ari``, ``miou`` (mean over true parts after one-to-one matching; background
            is no part); ``band_nmi``, ``band_ari``, ``band_miou``, the same within 5 pixels of a
            true part boundary; ``boundary_f``; ``fg_nmi``, ``fg_ari``, at pixels with a true part,
            where label maps without background were given; ``object_recall``,
            ``object_recall_worst``, ``outside_hull``, see `CoverScorer`, unless only labelled
            pixels are scored. A score for which there is no pixel, or no true part, is left out.
        """
        scores = self._scores_of(self.table, "")
        scores |= agreement(self.foreground_table, "fg_")
        scores |= self._scores_of(self.band_table, "band_")
        if self.table.any():
            scores["boundary_f"] = 100 * boundary_f_score(self.boundary)
        return scores | self.cover.compute()

    @staticmethod
    def _scores_of(table: np.ndarray, prefix: str) -> dict[str, float]:
        scores = agreement(table, prefix)
        if table[1:].any():
            scores[f"{prefix}miou"] = 100 * mean_iou_from_contingency(table)
        return scores
