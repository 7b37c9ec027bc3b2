"""Learning what is object over a collection: from a first guess, round by round from itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from partdino.method import Method
from partdino.parts.foreground import (
    ForegroundModel,
    cell_log_odds,
    first_guess,
    fit_foreground,
    learn_again,
    region_means,
)
from partdino.parts.object_cut import ObjectCut
from partdino.parts.sampling import evenly_spaced

if TYPE_CHECKING:
    from partdino.parts.fitting import Descriptions

_NOTHING = 1e-9  # the area of a first guess that found none
# In every round each image is read and cut anew; a linear classifier learns little from more.
MAX_CUT_IMAGES = 300


@dataclass(frozen=True, eq=False)
class RegionSample:
    """Regions of a collection.

    Attributes
    ----------
    chosen
        Of each image, which of its regions are in the sample, int (n,).
    features, contrast, areas
        Of these regions, float32 (N, D) and float (N,), as of `pool_regions`.
    border
        float (N,), the share in the band around the image; None where a description lacks it.
    """

    chosen: list[np.ndarray]
    features: np.ndarray
    contrast: np.ndarray
    areas: np.ndarray
    border: np.ndarray | None


def learn_foreground(
    store: Descriptions,
    names: Sequence[str],
    choose: Callable[[int], np.ndarray],
    method: Method,
) -> ForegroundModel | None:
    """Learn what is object in a collection.

    Parameters
    ----------
    store, names
        The descriptions to learn from.
    choose
        Returns which of so many regions of an image to learn from.
    method
        For `foreground_rounds`, `first_guess_kept`, `first_guess_weight`, and what `first_guess`
        and `ObjectCut` take.

    Returns
    -------
    ForegroundModel or None
        None where no image has more than one region.
    """
    if method.foreground_rounds > 0:
        names = evenly_spaced(names, MAX_CUT_IMAGES)
    sample = _sample(store, names, choose)
    if len(sample.areas) <= len(names):
        return None
    columns = sample.features, sample.contrast
    if method.foreground_rounds == 0:
        return fit_foreground(*columns, sample.areas, method)
    guess = first_guess(*columns, sample.border, sample.areas, method)

    def members(model: ForegroundModel) -> np.ndarray:
        pairs = zip(names, sample.chosen, strict=True)
        each = [_member(store, name, model, method)[chosen] for name, chosen in pairs]
        return np.concatenate(each)

    first = members(guess)
    weight_of_first = sample.areas * first / max(sample.areas @ first, _NOTHING)

    def rounds(guess_weight: float, least_kept: float) -> ForegroundModel | None:
        """Learn round by round; None where less of what the guess found is kept."""
        model, member = guess, first
        for done in range(method.foreground_rounds):
            if done:
                member = members(model)
                if weight_of_first @ member < least_kept:
                    return None
            learnt = learn_again(sample.features, member, sample.areas, method)
            if not np.isfinite(learnt.bias):
                return learnt
            model = learnt.mixed_with(guess, guess_weight)
        return model

    return rounds(0.0, method.first_guess_kept) or rounds(method.first_guess_weight, 0.0)


def _sample(
    store: Descriptions, names: Sequence[str], choose: Callable[[int], np.ndarray]
) -> RegionSample:
    rows, borders, chosen = [], [], []
    for name in names:
        description = store.read(name, pixels=False)
        each, areas = region_means(description)
        some = choose(len(areas))
        chosen.append(some)
        features, contrast = each @ description.foreground_features, each @ description.contrast
        rows.append((features[some].astype(np.float32), contrast[some], areas[some]))
        if description.border is not None:
            borders.append((each @ description.border.astype(np.float64))[some])
    features, contrast, areas = (np.concatenate(column) for column in zip(*rows, strict=True))
    border = np.concatenate(borders) if len(borders) == len(names) else None
    return RegionSample(chosen, features, contrast, areas, border)


def _member(store: Descriptions, name: str, model: ForegroundModel, method: Method) -> np.ndarray:
    """Return float64 (R,), how much each region of an image is part of its object."""
    description = store.read(name, pixels=False)
    each, _ = region_means(description)
    log_odds = cell_log_odds(description, model)
    return each @ ObjectCut(description, method).inside(log_odds)
