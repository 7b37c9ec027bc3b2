"""From a data set and label maps to scores: one path for our method and for anyone's label maps.

The public names are imported on first use, so that ``partdino eval --help`` stays quick.
"""

from importlib import import_module

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

__all__ = sorted(_PUBLIC)


def __getattr__(name: str):
    if name in _PUBLIC:
        return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
