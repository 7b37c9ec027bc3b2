"""Greedy k-means++ (Arthur & Vassilvitskii, 2007): points to begin k-means with, far apart.

The choices are those of scikit-learn's `kmeans_plusplus`. That takes one set of points at a time,
and where they are few, its checks of what it is given cost several times what it computes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def spread_out(
    points: np.ndarray, weights: np.ndarray, count: int, seeds: Sequence[int]
) -> np.ndarray:
    """Choose points of each of several sets, each set as if it were alone.

    The next point is the best of a few that are drawn, a far one more likely than a near one.

    Parameters
    ----------
    points
        float64 (S, N, P).
    weights
        float64 (S, N), above 0 or, for what is not to be chosen, 0.
    count
        C, how many to choose of each set, N at most.
    seeds
        One for each set.

    Returns
    -------
    int64 (S, C), indices of points. Some repeat where a set has fewer distinct points.
    """
    trials = 2 + int(np.log(count))
    draws = _draws(seeds, 1 + (count - 1) * trials)
    norms = np.einsum("snp,snp->sn", points, points)
    share = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    share /= share[:, -1:]
    chosen = [(share <= draws[:, :1]).sum(axis=1, keepdims=True)]
    nearest = _squared_distances(points, norms, chosen[0])
    loss = nearest @ weights[:, :, None]
    for drawn in np.split(draws[:, 1:], count - 1, axis=1) if count > 1 else ():
        ends = np.cumsum(weights * nearest[:, 0], axis=1)[:, None]
        candidates = (ends < drawn[:, :, None] * loss).sum(axis=2)
        candidates = np.minimum(candidates, points.shape[1] - 1)  # beyond the last by rounding
        distances = _squared_distances(points, norms, candidates)
        np.minimum(distances, nearest, out=distances)
        losses = distances @ weights[:, :, None]
        best = losses.argmin(axis=1)
        loss = np.take_along_axis(losses, best[:, :, None], axis=1)
        nearest = np.take_along_axis(distances, best[:, :, None], axis=1)
        chosen.append(np.take_along_axis(candidates, best, axis=1))
    return np.concatenate(chosen, axis=1)


def _draws(seeds: Sequence[int], count: int) -> np.ndarray:
    """Return float64 (S, count), uniform numbers in [0, 1)."""
    return np.stack([np.random.RandomState(seed).random_sample(count) for seed in seeds])


def _squared_distances(points: np.ndarray, norms: np.ndarray, some: np.ndarray) -> np.ndarray:
    """Return float64 (S, M, N), from `some` (S, M) of the points to all of their set.

    `norms` are the squared lengths (S, N).
    """
    taken = np.take_along_axis(points, some[:, :, None], axis=1)
    distances = -2 * (taken @ points.swapaxes(1, 2))
    distances += np.take_along_axis(norms, some, axis=1)[:, :, None]
    distances += norms[:, None]
    return np.maximum(distances, 0, out=distances)
