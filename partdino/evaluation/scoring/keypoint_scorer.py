"""Scores of label maps against keypoints: CUB-200-2011 and CelebA."""

from __future__ import annotations

import numpy as np

from partdino.evaluation.datasets import KeypointSample
from partdino.evaluation.scoring.agreement import agreement
from partdino.evaluation.scoring.label_maps import resize_nearest
from partdino.metrics import (
    KeypointRegression,
    add_padded,
    contingency_table,
    fit_keypoint_regression,
    nearest_index,
    outside_counts,
    part_centroids,
    regression_moments,
)


class KeypointFitter:
    """Accumulates the regression from part centroids to keypoints over the fitting images.

    Parameters
    ----------
    size
        S: every image is taken as S x S pixels.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.moments = np.zeros((0, 0, 0))

    def update(
        self, sample: KeypointSample, labels: np.ndarray, parts: np.ndarray | None = None
    ) -> None:
        """Add an image.

        Parameters
        ----------
        sample
            The image and its keypoints.
        labels
            Integer (h, w) of any size: 0 = background, 1..K = parts.
        parts
            As for `KeypointScorer`; the regression does without.
        """
        labels = resize_nearest(labels, (self.size, self.size))
        points = _scaled_keypoints(sample, self.size)
        frame = _frame(sample, points, self.size)
        if frame is not None:
            centroids, active = part_centroids(labels, int(labels.max()))
            moments = regression_moments(
                _normalise(centroids, frame)[None],
                active[None],
                _normalise(points, frame)[None],
                sample.visible[None],
            )
            self.moments = add_padded(self.moments, moments)

    def merge(self, other: KeypointFitter) -> None:
        """Add the images of another shard."""
        self.moments = add_padded(self.moments, other.moments)

    def fit(self) -> KeypointRegression | None:
        """Solve the regression; None where no image was added."""
        return fit_keypoint_regression(self.moments) if self.moments.size else None


class KeypointScorer:
    """Accumulates NMI, ARI and regression error over the scored images.

    Parameters
    ----------
    size
        S: every image is taken as S x S pixels.
    regression
        From `KeypointFitter`; None leaves the regression error out.
    """

    def __init__(self, size: int, regression: KeypointRegression | None = None) -> None:
        self.size = size
        self.regression = regression
        self.table = np.zeros((0, 0), np.int64)
        self.foreground_table = np.zeros((0, 0), np.int64)
        self.error_sum = 0.0
        self.error_count = 0
        self.outside = np.zeros(2, np.int64)

    def update(
        self, sample: KeypointSample, labels: np.ndarray, parts: np.ndarray | None = None
    ) -> None:
        """Add an image.

        Parameters
        ----------
        sample
            The image and its keypoints.
        labels
            The label map with background, integer (h, w) of any size: 0 = background, 1..K = parts.
        parts
            The label map without background: every pixel's best part, 1..K.
        """
        square = (self.size, self.size)
        labels = resize_nearest(labels, square)
        points = _scaled_keypoints(sample, self.size)
        self.table = add_padded(self.table, _point_table(points, sample.visible, labels))
        if parts is not None:
            counts = _point_table(points, sample.visible, resize_nearest(parts, square))
            self.foreground_table = add_padded(self.foreground_table, counts)
        if sample.box is not None:
            self.outside += outside_counts(_box_mask(sample, self.size), labels > 0)
        if self.regression is not None:
            self._add_error(sample, points, labels)

    def merge(self, other: KeypointScorer) -> None:
        """Add the images of another shard, scored with the same regression."""
        self.table = add_padded(self.table, other.table)
        self.foreground_table = add_padded(self.foreground_table, other.foreground_table)
        self.error_sum += other.error_sum
        self.error_count += other.error_count
        self.outside += other.outside

    def compute(self) -> dict[str, float]:
        """Return the scores, in percent.

        Returns
        -------
        dict of str to float
            ``nmi``, ``ari``; ``fg_nmi``, ``fg_ari`` where label maps without background were given;
            ``keypoint_regression``, an error, where there is a regression; ``object_keypoints``,
            the share of visible keypoints that are foreground, and ``outside_box``, the share of
            foreground outside the object's box, where there are boxes and foreground. A score for
            which there is no visible keypoint is left out.
        """
        scores = agreement(self.table) | agreement(self.foreground_table, "fg_")
        if self.error_count:
            scores["keypoint_regression"] = 100 * self.error_sum / self.error_count
        outside, foreground = (int(count) for count in self.outside)
        if foreground and self.table.any():
            scores["object_keypoints"] = float(100 * self.table[:, 1:].sum() / self.table.sum())
            scores["outside_box"] = 100 * outside / foreground
        return scores

    def _add_error(self, sample: KeypointSample, points: np.ndarray, labels: np.ndarray) -> None:
        frame = _frame(sample, points, self.size)
        if frame is None or self.regression is None:
            return
        centroids, active = part_centroids(labels, self.regression.num_parts)
        predicted = self.regression.predict(_normalise(centroids, frame)[None], active[None])[0]
        errors = np.linalg.norm(predicted - _normalise(points, frame), axis=1)
        measured = sample.visible & self.regression.fitted
        self.error_sum += float(errors[measured].sum())
        self.error_count += int(np.count_nonzero(measured))


def _scaled_keypoints(sample: KeypointSample, size: int) -> np.ndarray:
    height, width = sample.size
    return sample.keypoints * [size / width, size / height]


def _box_mask(sample: KeypointSample, size: int) -> np.ndarray:
    """Return bool (S, S), the pixels whose centre is in the object's box."""
    assert sample.box is not None
    height, width = sample.size
    left, top, right, bottom = np.concatenate([sample.box[:2], sample.box[:2] + sample.box[2:]])
    centres = np.arange(size) + 0.5
    across = (centres > left * size / width) & (centres < right * size / width)
    down = (centres > top * size / height) & (centres < bottom * size / height)
    return down[:, None] & across


def _point_table(points: np.ndarray, visible: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Count keypoint identities against the labels under the visible keypoints."""
    columns, rows = nearest_index(points[visible].T, len(labels))
    identities = np.flatnonzero(visible)
    return contingency_table(identities, labels[rows, columns].astype(np.int64))


def _frame(
    sample: KeypointSample, points: np.ndarray, size: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return origin and unit of the normalised coordinates, in the S x S image.

    The box where the sample has one, else the distance between the eyes; None where both eyes are
    at one place, which leaves the image out of the regression.
    """
    if sample.box is not None:
        height, width = sample.size
        box = sample.box.reshape(2, 2) * [size / width, size / height]
        return box[0], box[1]
    distance = np.linalg.norm(points[1] - points[0])
    return (np.zeros(2), np.full(2, distance)) if distance > 0 else None


def _normalise(points: np.ndarray, frame: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    return (points - frame[0]) / frame[1]
