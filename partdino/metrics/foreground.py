"""How well a foreground covers an object, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np


def mask_counts(true: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Count the pixels of two masks and those that both have.

    Parameters
    ----------
    true, predicted
        bool (H, W).

    Returns
    -------
    int64 (3,)
        Pixels of both, of the predicted mask, of the true one.

    Examples
    --------
    >>> mask_counts(np.array([[True, True, False]]), np.array([[False, True, True]])).tolist()
    [1, 2, 2]
    """
    masks = (true & predicted, predicted, true)
    return np.array([np.count_nonzero(mask) for mask in masks], np.int64)


def mask_iou(counts: np.ndarray) -> float:
    """Intersection over union of two masks, in [0, 1].

    Parameters
    ----------
    counts
        int64 (3,), as from `mask_counts`.

    Returns
    -------
    float
        1 where both masks are empty.

    Examples
    --------
    >>> mask_iou(np.array([1, 2, 2])) == 1 / 3
    True
    """
    both, predicted, true = (int(count) for count in counts)
    union = predicted + true - both
    return both / union if union else 1.0


def mask_precision_recall(counts: np.ndarray) -> tuple[float, float]:
    """Share of the predicted mask that is true, and of the true mask that is predicted.

    Parameters
    ----------
    counts
        int64 (3,), as from `mask_counts`.

    Returns
    -------
    tuple of float
        In [0, 1]. Of an empty mask all is right: what is missed or too much lowers the other.

    Examples
    --------
    >>> mask_precision_recall(np.array([1, 2, 4]))
    (0.5, 0.25)
    >>> mask_precision_recall(np.array([0, 0, 4]))
    (1.0, 0.0)
    """
    both, predicted, true = (int(count) for count in counts)
    return both / predicted if predicted else 1.0, both / true if true else 1.0


def hull_counts(labelled: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Count predicted pixels outside the convex hull of what is labelled.

    Where labels have gaps, their hull is what a foreground can be held to.

    Parameters
    ----------
    labelled, predicted
        bool (H, W).

    Returns
    -------
    int64 (2,)
        Predicted pixels outside the hull, and all predicted ones. Sums over images have meaning.

    Examples
    --------
    >>> labelled = np.array([[1, 0, 1, 0]], bool)
    >>> hull_counts(labelled, np.ones((1, 4), bool)).tolist()
    [1, 4]
    """
    hull = np.zeros(labelled.shape, np.uint8)
    points = np.argwhere(labelled)[:, ::-1].astype(np.int32)
    if len(points):
        cv2.fillConvexPoly(hull, cv2.convexHull(points), 1)
    return outside_counts(hull > 0, predicted)


def outside_counts(allowed: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Count predicted pixels outside what is allowed, and all predicted ones.

    Parameters
    ----------
    allowed, predicted
        bool (H, W).

    Returns
    -------
    int64 (2,)

    Examples
    --------
    >>> outside_counts(np.array([True, False, False]), np.array([True, True, False])).tolist()
    [1, 2]
    """
    masks = (predicted & ~allowed, predicted)
    return np.array([np.count_nonzero(mask) for mask in masks], np.int64)


def worst_tenth(values: Sequence[float]) -> float:
    """Mean of the lowest tenth of some values, at least one of them.

    Examples
    --------
    >>> worst_tenth([1.0] * 18 + [0.25, 0.75])
    0.5
    """
    return float(np.sort(values)[: max(1, round(len(values) / 10))].mean())
