"""Mean IoU after one-to-one matching of predicted parts to true parts."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment


def part_iou(table: np.ndarray) -> np.ndarray:
    """Intersection over union of every true part with every predicted part.

    Parameters
    ----------
    table
        int64 (1 + P, 1 + K) contingency table of pixels; row 0 and column 0 are background. They
        are no parts, but their pixels count in the unions.

    Returns
    -------
    float64 (P, K)
        In [0, 1]; 0 where neither part has a pixel.

    Examples
    --------
    >>> part_iou(np.array([[9, 0], [1, 3]])).tolist()
    [[0.75]]
    """
    intersection = table[1:, 1:].astype(np.float64)
    union = table.sum(axis=1)[1:, None] + table.sum(axis=0)[None, 1:] - intersection
    return intersection / np.maximum(union, 1)


def match_parts(table: np.ndarray) -> dict[int, int]:
    """Match true parts to predicted parts one to one, for the largest sum of IoU (Kuhn 1955).

    Parameters
    ----------
    table
        As for `part_iou`.

    Returns
    -------
    dict of int to int
        True part (1..P) to predicted part (1..K). Parts without a pixel, and those left over where
        P and K differ, are not in it; neither are pairs that share no pixel.

    Examples
    --------
    >>> match_parts(np.array([[9, 0, 0], [0, 0, 5], [0, 4, 1]]))
    {1: 2, 2: 1}
    """
    iou = part_iou(table)
    pairs = zip(*linear_sum_assignment(iou, maximize=True), strict=True)
    return {int(true) + 1: int(part) + 1 for true, part in pairs if iou[true, part] > 0}


def mean_iou_from_contingency(table: np.ndarray) -> float:
    """Mean IoU over the true parts, after one-to-one matching of predicted parts.

    Parameters
    ----------
    table
        As for `part_iou`.

    Returns
    -------
    float
        In [0, 1]. The mean runs over the true parts that have a pixel, so a category without
        annotations is not in it; a true part without a match counts 0. 0 where no true part has
        a pixel.

    Examples
    --------
    >>> mean_iou_from_contingency(np.array([[9, 0, 0], [0, 0, 5], [0, 5, 0]]))
    1.0
    >>> mean_iou_from_contingency(np.array([[9], [3]]))
    0.0
    """
    present = int(np.count_nonzero(table[1:].sum(axis=1)))
    if present == 0:
        return 0.0
    iou = part_iou(table)
    matched = sum(iou[true - 1, part - 1] for true, part in match_parts(table).items())
    return float(matched) / present
