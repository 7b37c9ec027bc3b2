"""Telling object from background with no labels.

What an image shows near its border is mostly background. Within one image, patches unlike all
border patches are probably object (`border_contrast`). Over a collection, a linear classifier
learns from those guesses what object and background look like in general (`fit_foreground`): what
is object in one image may touch the border in another, and the classifier knows it from the rest.
The final score is the sum of both kinds of evidence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_BORDER = 0.1  # width of the border band, as a share of each side
_NEIGHBOURS = 0.03  # share of the border's patches that a patch is compared with
# Contrast in standard deviations of the image: above OBJECT a region is an example of the object,
# below BACKGROUND one of the background, in between neither.
_OBJECT, _BACKGROUND = 1.0, 0.5
_REGULARISATION = 600.0  # inverse strength of the L2 penalty on the mean loss
_FOUND = 0.002  # least share of an image that can be its object


@dataclass(frozen=True, eq=False)
class ForegroundModel:
    """A linear classifier of region features.

    Attributes
    ----------
    weights
        float32 (D,).
    bias
        float: features with ``weights @ feature + bias > 0`` look like the object.
    """

    weights: np.ndarray
    bias: float

    def score(self, features: np.ndarray, contrast: np.ndarray) -> np.ndarray:
        """Return float64 (R,), positive for object, from (R, D) features and (R,) contrast."""
        appearance = features.astype(np.float64) @ self.weights.astype(np.float64) + self.bias
        return appearance + contrast - (_OBJECT + _BACKGROUND) / 2


def border_contrast(features: np.ndarray) -> np.ndarray:
    """Measure how unlike the image's border every patch is.

    Parameters
    ----------
    features
        float (gh, gw, D), unit vectors.

    Returns
    -------
    float32 (gh, gw): one minus the mean cosine with the most similar 3% of the patches in the band
    of 10% around the image, standardised over the image; 0 everywhere if all are alike.
    """
    rows, columns, dim = features.shape
    flat = features.reshape(-1, dim)
    similarity = flat @ flat[_border_mask(rows, columns).ravel()].T
    count = max(1, round(_NEIGHBOURS * similarity.shape[1]))
    nearest = np.partition(similarity, -count, axis=1)[:, -count:]
    contrast = 1 - nearest.mean(axis=1, dtype=np.float64)
    spread = contrast.std()
    standardised = (contrast - contrast.mean()) / spread if spread > 1e-6 else 0 * contrast
    return standardised.astype(np.float32).reshape(rows, columns)


def fit_foreground(
    features: np.ndarray, contrast: np.ndarray, areas: np.ndarray
) -> ForegroundModel:
    """Learn what the object looks like over a collection from the contrast in each image.

    Parameters
    ----------
    features
        float (N, D), pooled features of the regions of all images.
    contrast
        float (N,), `border_contrast` averaged over each region.
    areas
        float (N,), above 0: how much each region counts.

    Returns
    -------
    ForegroundModel
        A logistic regression; where one of the two kinds of example is missing (as in images of
        constant colour), one that sees no object anywhere.
    """
    from sklearn.linear_model import LogisticRegression

    example = (contrast > _OBJECT) | (contrast < _BACKGROUND)
    target = contrast[example] > _OBJECT
    if target.all() or not target.any():
        return ForegroundModel(np.zeros(features.shape[1], np.float32), -np.inf)
    weights = areas[example] / areas[example].mean()
    classifier = LogisticRegression(C=_REGULARISATION / len(target), max_iter=1000)
    classifier.fit(features[example], target, sample_weight=weights)
    return ForegroundModel(classifier.coef_[0].astype(np.float32), float(classifier.intercept_[0]))


def select_foreground(score: np.ndarray, areas: np.ndarray) -> np.ndarray:
    """Return bool (R,), the regions with a positive score, or none if they make up under 0.2%."""
    foreground = score > 0
    enough = areas[foreground].sum() > _FOUND * areas.sum()
    return foreground & enough


def _border_mask(rows: int, columns: int) -> np.ndarray:
    bands = [max(1, round(_BORDER * length)) for length in (rows, columns)]
    mask = np.ones((rows, columns), bool)
    mask[bands[0] : rows - bands[0], bands[1] : columns - bands[1]] = False
    return mask
