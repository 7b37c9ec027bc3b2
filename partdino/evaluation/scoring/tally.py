"""From samples and predicted label maps to scores, for any number of methods side by side."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, cast

import numpy as np

from partdino.evaluation.datasets import KeypointSample, MaskSample, PartDataset, Sample
from partdino.evaluation.scoring.keypoint_scorer import KeypointFitter, KeypointScorer
from partdino.evaluation.scoring.pixel_scorer import PixelScorer

#: The label map with background of an image (integer (h, w) of any size, 0 = background, 1..K =
#: parts) and the one without background (1..K everywhere), or None for want of one.
Maps: TypeAlias = tuple[np.ndarray, np.ndarray | None]
Predictor: TypeAlias = Callable[[Sample], Maps]

V = TypeVar("V", bound=Hashable)


class Accumulator(Protocol):
    """What images are added to: `KeypointFitter`, `KeypointScorer` and `PixelScorer`."""

    def update(self, sample: Any, labels: np.ndarray, parts: np.ndarray | None = None) -> None:
        """Add an image."""

    def merge(self, other: Any) -> None:
        """Add the images of another one."""


class Tally(Generic[V]):
    """Accumulators of several variants of a method, over the same images.

    Parameters
    ----------
    make
        Returns an empty accumulator for a variant.
    """

    def __init__(self, make: Callable[[V], Accumulator]) -> None:
        self._make = make
        self._totals: dict[V, Any] = {}

    def measure(self, sample: Sample, predicted: Iterable[tuple[V, Maps]]) -> dict[V, Accumulator]:
        """Measure one image without adding it: all its variants, or none if one raises."""
        if isinstance(sample, MaskSample):
            truth = sample.label_map()  # drawn once for all variants
            sample = replace(sample, draw=lambda: truth)
        measured = {}
        for variant, maps in predicted:
            measured[variant] = self._make(variant)
            measured[variant].update(sample, *maps)
        return measured

    def add(self, measured: dict[V, Accumulator]) -> None:
        """Add what `measure` returned."""
        for variant, accumulator in measured.items():
            self[variant].merge(accumulator)

    def items(self) -> Iterable[tuple[V, Any]]:
        """Return the variants that were met, in order, and their accumulators."""
        return self._totals.items()

    def __getitem__(self, variant: V) -> Any:
        """Return the accumulator of a variant, an empty one where no image was added."""
        return self._totals.setdefault(variant, self._make(variant))


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
    fitter = _accumulate(regression_samples, predict, lambda: KeypointFitter(size))
    regression = fitter.fit()
    return _accumulate(score_samples, predict, lambda: KeypointScorer(size, regression)).compute()


def score_pixels(
    samples: Iterable[MaskSample],
    predict: Predictor,
    grid: int | None = 128,
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
    return _accumulate(samples, predict, lambda: PixelScorer(grid, labelled_only)).compute()


def score_dataset(dataset: PartDataset, predict: Predictor, size: int) -> dict[str, float]:
    """Score a whole data set; ``size`` is S for keypoints and E for pixels."""
    if dataset.kind == "keypoints":
        regression, score = (
            cast("Sequence[KeypointSample]", dataset.samples(split))
            for split in ("regression", "score")
        )
        return score_keypoints(regression, score, predict, size)
    return score_pixels(cast("Sequence[MaskSample]", dataset.samples("score")), predict, size)


def _accumulate(samples: Iterable[Sample], predict: Predictor, make: Callable[[], Any]) -> Any:
    tally = Tally[None](lambda _: make())
    for sample in samples:
        tally.add(tally.measure(sample, [(None, predict(sample))]))
    return tally[None]
