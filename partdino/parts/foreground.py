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
from scipy.sparse import csr_matrix, diags

from partdino.describe.description import ImageDescription
from partdino.method import DEFAULT_METHOD, Method


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

    def score(
        self, features: np.ndarray, contrast: np.ndarray, method: Method = DEFAULT_METHOD
    ) -> np.ndarray:
        """Return float64 (R,), positive for object, from (R, D) features and (R,) contrast."""
        appearance = features.astype(np.float64) @ self.weights.astype(np.float64) + self.bias
        return appearance + contrast - (method.object_contrast + method.background_contrast) / 2


def fit_foreground(
    features: np.ndarray,
    contrast: np.ndarray,
    areas: np.ndarray,
    method: Method = DEFAULT_METHOD,
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
    method
        For `object_contrast`, `background_contrast` and `foreground_penalty`.

    Returns
    -------
    ForegroundModel
        A logistic regression; where one of the two kinds of example is missing (as in images of
        constant colour), one that sees no object anywhere.

    Examples
    --------
    >>> features = np.array([[1.0, 0.0]] * 4 + [[0.0, 1.0]] * 4)
    >>> contrast = np.array([2.0] * 4 + [-1.0] * 4)
    >>> model = fit_foreground(features, contrast, np.ones(8))
    >>> score = model.score(features, contrast)
    >>> select_foreground(score, np.ones(8)).tolist()
    [True, True, True, True, False, False, False, False]
    """
    from sklearn.linear_model import LogisticRegression

    example = (contrast > method.object_contrast) | (contrast < method.background_contrast)
    target = contrast[example] > method.object_contrast
    if target.all() or not target.any():
        return ForegroundModel(np.zeros(features.shape[1], np.float32), -np.inf)
    weights = areas[example] / areas[example].mean()
    classifier = LogisticRegression(C=method.foreground_penalty / len(target), max_iter=1000)
    classifier.fit(features[example], target, sample_weight=weights)
    return ForegroundModel(classifier.coef_[0].astype(np.float32), float(classifier.intercept_[0]))


def select_foreground(
    score: np.ndarray, areas: np.ndarray, method: Method = DEFAULT_METHOD
) -> np.ndarray:
    """Return bool (R,), the regions with a positive score, or none if less than `least_object`."""
    foreground = score > 0
    enough = areas[foreground].sum() > method.least_object * areas.sum()
    return foreground & enough


def foreground_cells(
    description: ImageDescription,
    foreground: ForegroundModel | None,
    method: Method = DEFAULT_METHOD,
) -> np.ndarray:
    """Return bool (C,), the cells that are object: of a mask, of the model, or else all.

    The model decides for whole regions, since the object's outline is an edge of the image.
    """
    if description.inside is not None:
        return description.inside
    if foreground is None:
        return np.ones(len(description.areas), bool)
    features, contrast, areas = pool_regions(description)
    score = foreground.score(features, contrast, method)
    return select_foreground(score, areas, method)[description.regions]


def pool_regions(description: ImageDescription) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features float64 (R, D), contrast (R,) and areas (R,) of the regions.

    An area is a share of the image, so that every image counts alike whatever its size; that of a
    region that no cell was mostly cut from is 0.
    """
    cells = np.arange(len(description.areas))
    members = csr_matrix((description.areas, (description.regions, cells)))
    areas = members.sum(axis=1).A1
    each = diags(1 / np.where(areas > 0, areas, 1)) @ members
    return each @ description.foreground_features, each @ description.contrast, areas / areas.sum()
