"""From a data set and label maps to scores: one path for our method and for anyone's label maps.

The public names are imported on first use, so that ``partdino eval --help`` stays quick.
"""

from importlib import import_module

_PUBLIC = {
    "EvalOptions": "options",
    "KeypointFitter": "keypoint_scorer",
    "KeypointScorer": "keypoint_scorer",
    "LabelFolder": "label_maps",
    "PixelScorer": "pixel_scorer",
    "Predictor": "scoring",
    "evaluate": "evaluation",
    "read_label_map": "label_maps",
    "resize_nearest": "label_maps",
    "score_dataset": "scoring",
    "score_keypoints": "scoring",
    "score_pixels": "scoring",
}

__all__ = sorted(_PUBLIC)


def __getattr__(name: str):
    if name in _PUBLIC:
        return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
