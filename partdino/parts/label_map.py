"""Resizing of label maps to full resolution, with smooth borders and bounded memory."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from partdino.images.resampling import area_axis, bilinear_axis

STRIP_PIXELS = 2**18  # how much of the larger of the two maps is worked on at once


def resize_label_map(label_map: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Resize a label map, with smooth borders.

    Every label's mask is resized, bilinearly along an axis that grows and by area along one that
    shrinks; the label with the largest value wins, the smaller of two equal ones.

    Parameters
    ----------
    label_map
        uint8 (h, w).
    size
        (H, W) of the result.

    Returns
    -------
    uint8 (H, W), with no label that `label_map` lacks; equal to `label_map` where the size is the
    same.

    Examples
    --------
    >>> small = np.array([[1, 1], [2, 2]], np.uint8)
    >>> resize_label_map(small, (4, 2)).tolist()
    [[1, 1], [1, 1], [2, 2], [2, 2]]
    """
    (height, width), (rows, columns) = label_map.shape, size
    down, across = _axis(rows, height), _axis(columns, width)
    step = max(1, STRIP_PIXELS * rows // (max(rows, height) * max(columns, width)))
    resized = np.empty(size, np.uint8)
    for start in range(0, rows, step):
        strip = down[start : start + step]
        first, last = strip.indices.min(), strip.indices.max() + 1
        resized[start : start + step] = _vote(label_map[first:last], strip[:, first:last], across)
    return resized


def _axis(size: int, source: int) -> csr_matrix:
    return bilinear_axis(size, source) if size >= source else area_axis(size, source)


def _vote(label_map: np.ndarray, down: csr_matrix, across: csr_matrix) -> np.ndarray:
    """Return for every output pixel the label with the most weight, in exact integers."""
    labels = np.unique(label_map)
    winner = np.full((down.shape[0], across.shape[0]), labels[0], np.uint8)
    if len(labels) == 1:
        return winner
    best = np.zeros(winner.shape, np.int64)
    for label in labels:
        score = down @ ((label_map == label) @ across.T)
        np.copyto(winner, label, where=score > best)
        np.maximum(best, score, out=best)
    return winner
