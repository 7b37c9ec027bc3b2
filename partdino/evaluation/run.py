"""An evaluation under way: which images play which part, and on which terms they are scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from partdino.errors import DatasetError
from partdino.evaluation.benchmarks import Benchmark
from partdino.evaluation.datasets import DatasetIdentity, PartDataset, Sample
from partdino.evaluation.eval_options import EvalOptions
from partdino.parts.fitting import MAX_IMAGES
from partdino.parts.sampling import evenly_spaced
from partdino.runs.reporting import RunLog

#: Samples under "fit", "regression" and "score".
Splits: TypeAlias = Mapping[str, Sequence[Sample]]


@dataclass(frozen=True)
class EvalRun:
    """What is scored, and what is kept account of."""

    benchmark: Benchmark
    dataset: DatasetIdentity
    options: EvalOptions
    splits: Splits
    log: RunLog

    @property
    def size(self) -> int | None:
        """S for keypoints, E for pixels; None for the annotations' size."""
        keypoints = self.benchmark.kind == "keypoints"
        size = self.options.size if keypoints else self.options.eval_size
        if size == "full" or not self.benchmark.sizes:
            return None
        return size or self.benchmark.sizes[0]

    @property
    def keypoint_size(self) -> int:
        """S, for benchmarks with keypoints."""
        return self.options.size or self.benchmark.sizes[0]

    @property
    def labelled_only(self) -> bool:
        """Whether only pixels with a true part are fitted on and scored."""
        return self.options.foreground == "ground-truth"


def choose_splits(
    dataset: PartDataset, options: EvalOptions, fit_on: Literal["sample", "all"], root: Path
) -> Splits:
    """Return the samples to fit parts on, to fit the regression on, and to score.

    Raises
    ------
    DatasetError
        There is nothing to score.
    """
    fit, regression, score = (dataset.samples(split) for split in ("fit", "regression", "score"))
    if options.split == "train":
        score = fit
    if not score:
        raise DatasetError(f"{root}: the split that is scored has no image here; add its images")
    if fit_on == "sample":  # of at most so many images: the others need not be described
        fit = evenly_spaced(fit, MAX_IMAGES)
    splits = {"fit": fit, "regression": regression, "score": score}
    return {name: evenly_spaced(samples, options.limit) for name, samples in splits.items()}
