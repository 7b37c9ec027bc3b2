"""NMI and ARI from a contingency table of true and predicted labels.

Counts are int64 and pair counts are Python integers, so that both scores stay exact at 10^9
samples, where squared counts leave 64 bits.
"""

from __future__ import annotations

import math

import numpy as np


def contingency_table(
    true: np.ndarray, predicted: np.ndarray, shape: tuple[int, int] | None = None
) -> np.ndarray:
    """Count how often each true label meets each predicted label.

    Parameters
    ----------
    true, predicted
        Integer arrays of one shape, values from 0.
    shape
        Number of true and of predicted labels; by default the largest label of each plus one.

    Returns
    -------
    int64 (R, C)
        Samples with true label r and predicted label c.

    Raises
    ------
    ValueError
        The shapes differ, a label is negative, or a label does not fit ``shape``.

    Examples
    --------
    >>> contingency_table(np.array([0, 0, 1]), np.array([2, 2, 0])).tolist()
    [[0, 0, 2], [1, 0, 0]]
    """
    if true.shape != predicted.shape:
        raise ValueError(
            f"true labels {true.shape} and predicted {predicted.shape} differ in shape"
        )
    if true.size == 0:
        return np.zeros(shape or (0, 0), np.int64)
    if min(true.min(), predicted.min()) < 0:
        raise ValueError("labels must not be negative")
    rows, columns = shape or (int(true.max()) + 1, int(predicted.max()) + 1)
    if true.max() >= rows or predicted.max() >= columns:
        raise ValueError(f"a label does not fit a table of {rows} x {columns}")
    cell = true.ravel().astype(np.int64) * columns + predicted.ravel()
    return np.bincount(cell, minlength=rows * columns).reshape(rows, columns)


def add_padded(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Add two statistics, the smaller one padded with zeros at the end of each axis.

    This merges shards of which one has not met the highest labels.

    Examples
    --------
    >>> add_padded(np.array([[1]]), np.array([[1, 2], [3, 4]])).tolist()
    [[2, 2], [3, 4]]
    """
    total = np.zeros(np.maximum(first.shape, second.shape), np.result_type(first, second))
    for part in (first, second):
        total[tuple(slice(length) for length in part.shape)] += part
    return total


def nmi_from_contingency(table: np.ndarray) -> float:
    """Normalised mutual information: mutual information over the mean of the two entropies.

    Parameters
    ----------
    table
        int64 (R, C), as from `contingency_table`.

    Returns
    -------
    float
        In [0, 1], as scikit-learn's ``normalized_mutual_info_score`` (arithmetic mean). Degenerate
        cases follow it: 1 where both sides have one label or there is no sample; 0 where only one
        side has one label.

    Notes
    -----
    Sums are correctly rounded (``math.fsum``), so the score does not depend on the order of labels.

    Examples
    --------
    >>> nmi_from_contingency(np.array([[0, 5], [7, 0]]))
    1.0
    >>> nmi_from_contingency(np.array([[5], [7]]))
    0.0
    """
    rows, columns = _margins(table)
    if len(rows) <= 1 and len(columns) <= 1:
        return 1.0
    if len(rows) == 1 or len(columns) == 1:
        return 0.0
    total = sum(rows)
    entropies = _entropy(rows, total) + _entropy(columns, total)
    mutual = entropies - _entropy(_counts(table), total)
    return min(max(2 * mutual / entropies, 0.0), 1.0)


def ari_from_contingency(table: np.ndarray) -> float:
    """Adjusted Rand index (Hubert & Arabie 1985), from exact integer pair counts.

    Parameters
    ----------
    table
        int64 (R, C), as from `contingency_table`.

    Returns
    -------
    float
        In [-0.5, 1], as scikit-learn's ``adjusted_rand_score``. Degenerate cases follow it: 1 where
        both sides group the samples alike, which holds for no sample and for one label on both
        sides; 0 where only one side has one label.

    Examples
    --------
    >>> ari_from_contingency(np.array([[0, 5], [7, 0]]))
    1.0
    >>> ari_from_contingency(np.array([[5], [7]]))
    0.0
    """
    rows, columns = _margins(table)
    total = sum(rows)
    both = sum(count * count for count in _counts(table))
    same_true = sum(count * count for count in rows)
    same_predicted = sum(count * count for count in columns)
    # Ordered pairs of samples: together in both, in one only, in neither.
    together = both - total
    only_true, only_predicted = same_true - both, same_predicted - both
    apart = total * total - same_true - same_predicted + both
    if only_true == 0 and only_predicted == 0:
        return 1.0
    numerator = 2 * (together * apart - only_true * only_predicted)
    denominator = (together + only_true) * (only_true + apart)
    denominator += (together + only_predicted) * (only_predicted + apart)
    return numerator / denominator


def _counts(table: np.ndarray) -> list[int]:
    return table[table > 0].tolist()


def _margins(table: np.ndarray) -> tuple[list[int], list[int]]:
    return _counts(table.sum(axis=1)), _counts(table.sum(axis=0))


def _entropy(counts: list[int], total: int) -> float:
    return math.log(total) - math.fsum(count * math.log(count) for count in counts) / total
