"""Part-DINO: training-free part discovery.

The public names are imported on first use, so that ``partdino --help`` does not import torch.
"""

from importlib import import_module

from partdino.version import __version__

_PUBLIC = {
    "PartDiscovery": "partdino.estimator",
    "PartSegmentation": "partdino.parts.result",
    "load_backbone": "partdino.describe.features",
    "extract_features": "partdino.describe.features",
    "detect_boundaries": "partdino.describe.boundaries",
    "make_regions": "partdino.describe.regions",
    "pool": "partdino.describe.pooling",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str):
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'partdino' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
