"""From label maps to what the keypoint protocols measure: labels at points, centroids of parts."""

from __future__ import annotations

import numpy as np


def nearest_index(coordinates: np.ndarray, size: int) -> np.ndarray:
    """Return the pixel index nearest to a coordinate, as the published evaluations find it.

    The arithmetic is that of ``grid_sample(mode="nearest", align_corners=False)``: float32, halves
    to even. Coordinates outside the map take its border pixel.

    Parameters
    ----------
    coordinates
        Float array of any shape, in pixels, 0 the map's left or upper edge and ``size`` the other.
    size
        Number of pixels along this axis.

    Returns
    -------
    int64, the shape of ``coordinates``
        In 0..size-1.

    Examples
    --------
    >>> nearest_index(np.array([0.2, 1.4, 99.0]), 4).tolist()
    [0, 1, 3]
    """
    one, length = np.float32(1), np.float32(size)
    normalised = 2 * np.asarray(coordinates, np.float32) / length - one
    index = np.round(((normalised + one) * length - one) / 2)
    return np.clip(index, 0, size - 1).astype(np.int64)


def part_centroids(labels: np.ndarray, num_parts: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the centroid of every part of a label map, and which parts have one.

    Parameters
    ----------
    labels
        Integer (H, W): 0 = background, 1..K = parts; labels above ``num_parts`` are passed over.
    num_parts
        K.

    Returns
    -------
    centroids : float64 (K, 2)
        Mean (x, y) pixel index of each part; 0 where it is absent.
    active : bool (K,)
        Whether the part has a pixel.

    Examples
    --------
    >>> centroids, active = part_centroids(np.array([[1, 0, 1]]), num_parts=2)
    >>> centroids.tolist(), active.tolist()
    ([[1.0, 0.0], [0.0, 0.0]], [True, False])
    """
    height, width = labels.shape
    columns = _profile(labels, np.arange(width), num_parts)
    rows = _profile(labels, np.arange(height)[:, None], num_parts)
    area = columns.sum(axis=1)
    sums = np.stack([columns @ np.arange(width), rows @ np.arange(height)], axis=1)
    return sums / np.maximum(area, 1)[:, None], area > 0


def _profile(labels: np.ndarray, index: np.ndarray, num_parts: int) -> np.ndarray:
    """Count each part's pixels along one axis: int64 (K, length); higher labels do not count."""
    length = index.size
    cells = labels.astype(np.intp) * length + index
    counts = np.bincount(cells.ravel(), minlength=(num_parts + 1) * length)
    return counts[: (num_parts + 1) * length].reshape(-1, length)[1:]
