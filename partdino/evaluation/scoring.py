"""From a data set and a predictor of label maps to scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np

from partdino.datasets import KeypointSample, MaskSample, PartDataset, Sample
from partdino.evaluation.keypoint_scorer import KeypointFitter, KeypointScorer
from partdino.evaluation.pixel_scorer import PixelScorer

#: Returns the label map with background of an image (integer (h, w) of any size, 0 = background,
#: 1..K = parts) and the one without background (1..K everywhere), or None for want of one.
Predictor: TypeAlias = Callable[[Sample], tuple[np.ndarray, np.ndarray | None]]


def score_keypoints(
    regression_samples: Iterable[KeypointSample],
    score_samples: Iterable[KeypointSample],
    predict: Predictor,
    size: int,
) -> dict[str, float]:
    """Score label maps against keypoints.

    Parameters
    ----------
    regression_samples
        Images that the keypoint regression is fitted on; none leaves that score out.
    score_samples
        Images that are scored.
    predict
        See `Predictor`.
    size
        S of the protocol.

    Returns
    -------
    dict of str to float
        As `KeypointScorer.compute`.
    """
    fitter = KeypointFitter(size)
    for sample in regression_samples:
        fitter.update(sample, predict(sample)[0])
    scorer = KeypointScorer(size, fitter.fit())
    for sample in score_samples:
        scorer.update(sample, *predict(sample))
    return scorer.compute()


def score_pixels(
    samples: Iterable[MaskSample],
    predict: Predictor,
    grid: int = 128,
    labelled_only: bool = False,
) -> dict[str, float]:
    """Score label maps against part masks.

    Parameters
    ----------
    samples
        Images that are scored.
    predict
        See `Predictor`.
    grid, labelled_only
        See `PixelScorer`.

    Returns
    -------
    dict of str to float
        As `PixelScorer.compute`.
    """
    scorer = PixelScorer(grid, labelled_only)
    for sample in samples:
        scorer.update(sample, *predict(sample))
    return scorer.compute()


def score_dataset(dataset: PartDataset, predict: Predictor, size: int) -> dict[str, float]:
    """Score a whole data set; ``size`` is S for keypoints and E for pixels."""
    if dataset.kind == "keypoints":
        regression, score = dataset.samples("regression"), dataset.samples("score")
        return score_keypoints(regression, score, predict, size)
    return score_pixels(dataset.samples("score"), predict, size)
