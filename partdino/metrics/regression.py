"""Keypoint regression: how well the centroids of parts tell where the keypoints are.

The protocol standardises centroids and keypoints with train statistics, zeroes the centroids of
absent parts *after* standardising, and solves least squares without intercept. With the presence
``a`` of a part (0 or 1) its standardised centroid is ``(a x - mean a) / std``: linear in ``a`` and
``a x``. So sums of products of the row ``[1, keypoint x, keypoint y, a_1, a_1 x_1, a_1 y_1, ...]``
over images hold all that means, deviations and least squares need; they merge by addition.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Columns of the design row before the part columns: 1 and the keypoint.
_PREFIX = 3
# Below this fraction of the largest eigenvalue (or of the mean square) is rounding of the sums.
_ROUNDING = 1e-12


def regression_moments(
    centroids: np.ndarray, active: np.ndarray, keypoints: np.ndarray, visible: np.ndarray
) -> np.ndarray:
    """Sum over images what `fit_keypoint_regression` needs, for each keypoint where it is visible.

    Parameters
    ----------
    centroids
        float (N, K, 2), (x, y) in normalised coordinates (about 0 to 1); any value where absent.
    active
        bool (N, K): whether the image has the part.
    keypoints
        float (N, P, 2), in the same coordinates.
    visible
        bool (N, P).

    Returns
    -------
    float64 (P, 3 + 3K, 3 + 3K)
        Sums of products; add those of shards with `add_padded`.

    Examples
    --------
    >>> moments = regression_moments(
    ...     centroids=np.full((4, 2, 2), 0.5),
    ...     active=np.ones((4, 2), bool),
    ...     keypoints=np.zeros((4, 1, 2)),
    ...     visible=np.ones((4, 1), bool),
    ... )
    >>> moments.shape, float(moments[0, 0, 0])
    ((1, 9, 9), 4.0)
    """
    parts = _part_columns(centroids, active)
    per_keypoint = np.broadcast_to(parts, (keypoints.shape[1], *parts.shape))
    ones = np.ones((keypoints.shape[1], len(parts), 1))
    rows = np.concatenate([ones, keypoints.swapaxes(0, 1), per_keypoint], axis=2)
    rows = np.where(visible.T[..., None], rows, 0.0)
    return rows.swapaxes(1, 2) @ rows


@dataclass(frozen=True)
class KeypointRegression:
    """A fitted regression from part centroids to keypoints.

    Attributes
    ----------
    coefficients
        float64 (P, 1 + 3K, 2): for each keypoint, from ``[1, a_1, a_1 x_1, a_1 y_1, ...]``.
    fitted
        bool (P,): False for a keypoint that no image of the fit split shows: it has no prediction.
    """

    coefficients: np.ndarray
    fitted: np.ndarray

    @property
    def num_parts(self) -> int:
        """K, the number of parts whose centroids are used."""
        return (self.coefficients.shape[1] - 1) // 3

    def predict(self, centroids: np.ndarray, active: np.ndarray) -> np.ndarray:
        """Predict keypoints.

        Parameters
        ----------
        centroids, active
            float (N, K, 2) and bool (N, K), as for `regression_moments`.

        Returns
        -------
        float64 (N, P, 2)
        """
        rows = np.concatenate([np.ones((len(active), 1)), _part_columns(centroids, active)], axis=1)
        return np.einsum("nd,pdc->npc", rows, self.coefficients)


def fit_keypoint_regression(moments: np.ndarray) -> KeypointRegression:
    """Solve the protocol's regression from its sums.

    Parameters
    ----------
    moments
        float64 (P, 3 + 3K, 3 + 3K), as from `regression_moments`.

    Returns
    -------
    KeypointRegression
        Where the least squares have many solutions, the smallest. A part that no image of the fit
        split has gets no weight; means and deviations of a part are over the images that have it; a
        constant centroid or keypoint is only centred. A keypoint never visible is not fitted.

    Notes
    -----
    Normal equations lose directions of the centroids that vary less than a millionth of the
    strongest one (Golub & Van Loan, *Matrix Computations*, 5.3); no label map is that precise.
    """
    solutions = [_solve(moment) for moment in moments]
    coefficients = np.array(solutions).reshape(-1, moments.shape[1] - _PREFIX + 1, 2)
    return KeypointRegression(coefficients, moments[:, 0, 0] > 0)


def _part_columns(centroids: np.ndarray, active: np.ndarray) -> np.ndarray:
    """Return float64 (N, 3K): presence and, where present, centroid of each part."""
    columns = np.concatenate([np.ones((*active.shape, 1)), centroids], axis=2)
    return np.where(active[..., None], columns, 0.0).reshape(len(active), 3 * active.shape[1])


def _solve(moment: np.ndarray) -> np.ndarray:
    """Return the coefficients (1 + 3K, 2) of one keypoint."""
    size = len(moment)
    counts = np.arange(_PREFIX, size, 3)
    standard_parts, _ = _standardiser(moment, np.repeat(counts, 2), _beside(counts))
    standard_point, deviation = _standardiser(moment, np.array([0, 0]), np.array([1, 2]))
    design = standard_parts.T @ moment
    weights = np.linalg.pinv(design @ standard_parts, rcond=_ROUNDING, hermitian=True)
    scaled = (weights @ (design @ standard_point)) * deviation
    solution = standard_parts @ scaled
    # Undo the centring of the keypoint: its mean is the constant term.
    solution[0] += moment[0, 1:_PREFIX] / max(moment[0, 0], 1.0)
    return np.delete(solution, [1, 2], axis=0)


def _beside(counts: np.ndarray) -> np.ndarray:
    return np.stack([counts + 1, counts + 2], axis=1).ravel()


def _standardiser(
    moment: np.ndarray, counts: np.ndarray, columns: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the matrix from design rows to standardised columns, and their deviations.

    ``counts`` are the columns of ones over the samples that each of ``columns`` is averaged over.
    """
    number = np.maximum(moment[counts, counts], 1.0)
    mean = moment[counts, columns] / number
    square = moment[columns, columns] / number
    variance = square - mean**2
    deviation = np.sqrt(np.where(variance > _ROUNDING * square, variance, 1.0))
    matrix = np.zeros((len(moment), len(columns)))
    matrix[columns, np.arange(len(columns))] = 1 / deviation
    matrix[counts, np.arange(len(columns))] = -mean / deviation
    return matrix, deviation
