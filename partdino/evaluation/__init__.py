"""From a data set and label maps to scores: one path for our method and for anyone's label maps.

The public names are imported on first use, so that ``partdino eval --help`` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from partdino.evaluation.eval_options import EvalOptions
    from partdino.evaluation.pipeline import evaluate
    from partdino.evaluation.scoring.keypoint_scorer import KeypointFitter, KeypointScorer
    from partdino.evaluation.scoring.label_maps import LabelFolder, read_label_map, resize_nearest
    from partdino.evaluation.scoring.pixel_scorer import PixelScorer
    from partdino.evaluation.scoring.tally import (
        Predictor,
        score_dataset,
        score_keypoints,
        score_pixels,
    )

# Where each name is; the imports above tell the same to editors and type checkers.
_PUBLIC = {
    "EvalOptions": "eval_options",
    "KeypointFitter": "scoring.keypoint_scorer",
    "KeypointScorer": "scoring.keypoint_scorer",
    "LabelFolder": "scoring.label_maps",
    "PixelScorer": "scoring.pixel_scorer",
    "Predictor": "scoring.tally",
    "evaluate": "pipeline",
    "read_label_map": "scoring.label_maps",
    "resize_nearest": "scoring.label_maps",
    "score_dataset": "scoring.tally",
    "score_keypoints": "scoring.tally",
    "score_pixels": "scoring.tally",
}

__all__ = [
    "EvalOptions",
    "KeypointFitter",
    "KeypointScorer",
    "LabelFolder",
    "PixelScorer",
    "Predictor",
    "evaluate",
    "read_label_map",
    "resize_nearest",
    "score_dataset",
    "score_keypoints",
    "score_pixels",
]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
