"""How well label maps follow the boundaries between parts."""

from __future__ import annotations

import math

import numpy as np
from scipy.ndimage import distance_transform_edt


def part_boundary(labels: np.ndarray, valid: np.ndarray | None = None) -> np.ndarray:
    """Mark the pixels on both sides of every change of label.

    Parameters
    ----------
    labels
        Integer (H, W); background is a label like any other.
    valid
        bool (H, W); a change that involves a pixel outside does not count. Default: all pixels.

    Returns
    -------
    bool (H, W)
        True where one of the four neighbours has another label.

    Examples
    --------
    >>> part_boundary(np.array([[0, 0, 1, 1]])).tolist()
    [[False, True, True, False]]
    """
    boundary = np.zeros(labels.shape, bool)
    for first, second in (
        (np.s_[:-1, :], np.s_[1:, :]),
        (np.s_[:, :-1], np.s_[:, 1:]),
    ):
        change = labels[first] != labels[second]
        if valid is not None:
            change &= valid[first] & valid[second]
        boundary[first] |= change
        boundary[second] |= change
    return boundary


def boundary_band(
    labels: np.ndarray, width: float = 5, valid: np.ndarray | None = None
) -> np.ndarray:
    """Mark the pixels that lie within ``width`` pixels of a part boundary.

    A boundary runs between two pixels, half a pixel from their centres: a straight one has a band
    of ``width`` pixels on either side.

    Parameters
    ----------
    labels, valid
        As for `part_boundary`.
    width
        In pixels of the label map, at least 1.

    Returns
    -------
    bool (H, W)

    Examples
    --------
    >>> boundary_band(np.array([[0, 0, 0, 1, 1, 1]]), width=2).tolist()
    [[False, True, True, True, True, False]]
    """
    band = _within(part_boundary(labels, valid), width - 0.5)
    return band if valid is None else band & valid


def boundary_tolerance(height: int, width: int, share: float = 0.008) -> int:
    """Return the distance in pixels at which two boundaries still agree.

    A share of the diagonal, rounded up; 0.8% as in the DAVIS benchmark (Perazzi et al. 2016).

    Examples
    --------
    >>> boundary_tolerance(128, 128), boundary_tolerance(224, 224)
    (2, 3)
    """
    return math.ceil(share * math.hypot(height, width))


def boundary_counts(
    true: np.ndarray, predicted: np.ndarray, tolerance: float, valid: np.ndarray | None = None
) -> np.ndarray:
    """Count boundary pixels and those that have a counterpart within the tolerance.

    Which parts meet at a boundary does not matter, only that there is one.

    Parameters
    ----------
    true, predicted
        Integer (H, W) label maps.
    tolerance
        Euclidean distance in pixels.
    valid
        As for `part_boundary`.

    Returns
    -------
    int64 (4,)
        Predicted boundary pixels near a true one, all predicted ones, true ones near a predicted
        one, all true ones. Sums over images are what `boundary_f_score` takes.

    Examples
    --------
    >>> boundary_counts(np.array([[0, 0, 1, 1]]), np.array([[0, 1, 1, 1]]), tolerance=1).tolist()
    [2, 2, 2, 2]
    """
    real, found = part_boundary(true, valid), part_boundary(predicted, valid)
    hits = found & _within(real, tolerance)
    recalled = real & _within(found, tolerance)
    return np.array([np.count_nonzero(m) for m in (hits, found, recalled, real)], np.int64)


def boundary_f_score(counts: np.ndarray) -> float:
    """Boundary F-score: harmonic mean of boundary precision and recall (Martin et al. 2004).

    Parameters
    ----------
    counts
        int64 (4,), as from `boundary_counts`, summed over images.

    Returns
    -------
    float
        In [0, 1]; 1 where neither side has a boundary, 0 where only one has.

    Examples
    --------
    >>> boundary_f_score(np.array([2, 4, 3, 6]))
    0.5
    >>> boundary_f_score(np.array([0, 0, 0, 6]))
    0.0
    """
    hits, found, recalled, real = (int(count) for count in counts)
    if found == 0 or real == 0:
        return float(found == real)
    precision, recall = hits / found, recalled / real
    return 2 * precision * recall / (precision + recall) if hits and recalled else 0.0


def _within(mask: np.ndarray, distance: float) -> np.ndarray:
    # Without any pixel to measure from, the distance transform is undefined.
    return distance_transform_edt(~mask) <= distance if mask.any() else mask
