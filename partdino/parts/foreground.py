"""Telling object from background with no labels.

What an image shows near its border is mostly background. Within one image, patches unlike all
border patches are probably object (`border_contrast`). Over a collection, a linear classifier
learns from those guesses what object and background look like in general (`fit_foreground`): what
is object in one image may touch the border in another, and the classifier knows it from the rest.

Where objects fill their photos, the border shows them, too, and contrast misses much of them. So a
second classifier learns what the middle of the photos shows and their border does not
(`first_guess`). Both are then replaced, round by round, by one that learns from the objects
themselves, as they can be cut out of each photo (`partdino.parts.object_cut`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix, diags
from scipy.special import logit

from partdino.describe.description import ImageDescription
from partdino.method import DEFAULT_METHOD, Method
from partdino.parts.axes import axis_weights
from partdino.parts.object_cut import ObjectCut

# Of a region in the band around its image: less is the middle, more the border.
_MIDDLE, _AT_BORDER = 0.05, 0.5
_BINS = 256
_NOTHING = 1e-9  # a weight that is none


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
        between = (method.object_contrast + method.background_contrast) / 2
        return self.appearance(features) + contrast - between

    def appearance(self, features: np.ndarray) -> np.ndarray:
        """Return float64 (R,), the log-odds that (R, D) features are those of the object."""
        return features.astype(np.float64) @ self.weights.astype(np.float64) + self.bias

    def cut_at(self, probability: float) -> ForegroundModel:
        """Return a model that calls object what this one gives at least such a probability."""
        return ForegroundModel(self.weights, self.bias - float(logit(probability)))

    def mixed_with(self, other: ForegroundModel, share: float) -> ForegroundModel:
        """Return a model whose log-odds are, by this share, those of another one."""
        weights = (1 - share) * self.weights + share * other.weights
        return ForegroundModel(weights, (1 - share) * self.bias + share * other.bias)


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
    example = (contrast > method.object_contrast) | (contrast < method.background_contrast)
    target = contrast[example] > method.object_contrast
    if target.all() or not target.any():
        return ForegroundModel(np.zeros(features.shape[1], np.float32), -np.inf)
    return _classifier(features[example], target, areas[example], method)


def first_guess(
    features: np.ndarray,
    contrast: np.ndarray,
    border: np.ndarray | None,
    areas: np.ndarray,
    method: Method = DEFAULT_METHOD,
) -> ForegroundModel:
    """Learn what the object may look like, from the contrast and from where regions lie.

    The sum of two classifiers: that of `fit_foreground`, and one that tells regions of the middle
    from those at the border. They are alike in the order in which they put regions, not in how many
    they call object; so the sum is cut where it parts the collection best (Otsu 1979).

    Parameters
    ----------
    features, contrast, areas, method
        As for `fit_foreground`.
    border
        float (N,), the share of each region in the band around its image; None if unknown.

    Returns
    -------
    ForegroundModel
    """
    from skimage.filters import threshold_otsu

    guess = fit_foreground(features, contrast, areas, method)
    if not np.isfinite(guess.bias):
        return guess
    weights = guess.weights
    if border is not None:
        example = (border < _MIDDLE) | (border > _AT_BORDER)
        target = border[example] < _MIDDLE
        if target.any() and not target.all():
            weights = (
                weights + _classifier(features[example], target, areas[example], method).weights
            )
    score = features @ weights
    counts, ends = np.histogram(score, _BINS, weights=areas)
    middles = (ends[:-1] + ends[1:]) / 2
    return ForegroundModel(weights, -float(threshold_otsu(hist=(counts, middles))))


def learn_again(
    features: np.ndarray,
    member: np.ndarray,
    areas: np.ndarray,
    method: Method = DEFAULT_METHOD,
) -> ForegroundModel:
    """Learn what the object looks like from how much each region is part of it.

    Parameters
    ----------
    features, areas, method
        As for `fit_foreground`.
    member
        float (N,) in [0, 1].

    Returns
    -------
    ForegroundModel
        One that sees no object anywhere if there is none, or nothing else.
    """
    twice = np.concatenate([features, features])
    weights = np.concatenate([member, 1 - member]) * np.tile(areas, 2)
    target = np.repeat([True, False], len(member))
    counts = weights > _NOTHING
    if len(np.unique(target[counts])) < 2:
        return ForegroundModel(np.zeros(features.shape[1], np.float32), -np.inf)
    return _classifier(twice[counts], target[counts], weights[counts], method)


def _classifier(
    features: np.ndarray, target: np.ndarray, areas: np.ndarray, method: Method
) -> ForegroundModel:
    """Learn from features about their mean, in units of their spread, no axis much above others.

    The penalty then weighs the same whatever the network's features have in common, and however
    long they are.
    """
    from sklearn.linear_model import LogisticRegression

    centre = np.average(features.astype(np.float64), axis=0, weights=areas)
    variance = np.average((features - centre) ** 2, axis=0, weights=areas)
    axes = axis_weights(variance, method)
    axes /= np.sqrt(variance @ axes**2) or 1.0  # 1: all features are alike
    classifier = LogisticRegression(C=method.foreground_penalty / len(target), max_iter=1000)
    classifier.fit((features - centre) * axes, target, sample_weight=areas / areas.mean())
    weights = classifier.coef_[0] * axes
    bias = float(classifier.intercept_[0] - weights @ centre)
    return ForegroundModel(weights.astype(np.float32), bias)


def select_foreground(
    score: np.ndarray, areas: np.ndarray, method: Method = DEFAULT_METHOD
) -> np.ndarray:
    """Return bool (R,), the regions with a positive score, or none if less than `least_object`."""
    foreground = score > 0
    enough = areas[foreground].sum() > method.least_object * areas.sum()
    return foreground & enough


@dataclass(frozen=True, eq=False)
class FoundObject:
    """What is object in one photo.

    Attributes
    ----------
    inside
        bool (C,), its cells.
    confidence
        float in [0, 1], how far the collection's classifier and the photo's own colours and edges
        agree: intersection over union of what is object by the first, and then by both. None where
        there is nothing to compare: with a mask, with no object, or without rounds.
    """

    inside: np.ndarray
    confidence: float | None = None


def find_object(
    description: ImageDescription,
    foreground: ForegroundModel | None,
    method: Method = DEFAULT_METHOD,
) -> FoundObject:
    """Find the cells that are object: of a mask, of the model, or else all.

    The model knows whole regions, since the object's outline is an edge of the image; the photo's
    own colours and edges then tell cell by cell.
    """
    if description.inside is not None:
        return FoundObject(description.inside)
    if foreground is None:
        return FoundObject(np.ones(len(description.areas), bool))
    if method.foreground_rounds == 0:
        return FoundObject(_by_regions(description, foreground, method))
    cut = ObjectCut(description, method)
    log_odds = cell_log_odds(description, foreground)
    inside = cut.inside(log_odds)
    enough = inside @ description.areas > method.least_object * description.areas.sum()
    told = description.hints is not None and (description.hints > 0).any()
    cleaned = cut.clean(inside & (enough or told))
    return FoundObject(cleaned, _agreement(log_odds > 0, cleaned, description.areas))


def _by_regions(
    description: ImageDescription, foreground: ForegroundModel, method: Method
) -> np.ndarray:
    """Return bool (C,), the cells of regions that are object as version 0.1 found it."""
    features, contrast, areas = pool_regions(description)
    score = foreground.score(features, contrast, method)
    inside = select_foreground(score, areas, method)[description.regions]
    hints = description.hints
    return inside if hints is None else np.where(hints == 0, inside, hints > 0)


def cell_log_odds(description: ImageDescription, foreground: ForegroundModel) -> np.ndarray:
    """Return float64 (C,), positive for object: of the region that each cell is cut from.

    Of a region under points of one kind alone the sign is that of the point.
    """
    each, _ = region_means(description)
    log_odds = foreground.appearance(each @ description.foreground_features)
    if description.hints is not None:
        told = [
            np.bincount(description.regions, description.hints == side, len(log_odds)) > 0
            for side in (1, -1)
        ]
        log_odds = np.where(told[0] & ~told[1], np.abs(log_odds), log_odds)
        log_odds = np.where(told[1] & ~told[0], -np.abs(log_odds), log_odds)
    return log_odds[description.regions]


def _agreement(one: np.ndarray, other: np.ndarray, areas: np.ndarray) -> float | None:
    """Return the intersection over union of two bool (C,); None where the second is empty."""
    return float((one & other) @ areas / ((one | other) @ areas)) if other.any() else None


def foreground_cells(
    description: ImageDescription,
    foreground: ForegroundModel | None,
    method: Method = DEFAULT_METHOD,
) -> np.ndarray:
    """Return bool (C,), the cells that `find_object` finds."""
    return find_object(description, foreground, method).inside


def pool_regions(description: ImageDescription) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features float64 (R, D), contrast (R,) and areas (R,) of the regions.

    An area is a share of the image, so that every image counts alike whatever its size; that of a
    region that no cell was mostly cut from is 0.
    """
    each, areas = region_means(description)
    return each @ description.foreground_features, each @ description.contrast, areas


def region_means(description: ImageDescription) -> tuple[csr_matrix, np.ndarray]:
    """Return the (R, C) matrix that averages values of cells over each region, and areas (R,)."""
    cells = np.arange(len(description.areas))
    members = csr_matrix((description.areas, (description.regions, cells)))
    areas = members.sum(axis=1).A1
    return diags(1 / np.where(areas > 0, areas, 1)) @ members, areas / areas.sum()
