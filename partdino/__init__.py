"""Part-DINO: training-free part discovery.

`PartDiscovery` is the whole method; every stage of it is a function of its own, in the order of the
figure::

    photo --> extract_features ----------------------> pool --> fit_foreground --> smooth --+
       \\----> detect_boundaries --> make_regions --> split_into_cells --/                     |
                                                                                            v
           resize_label_map <-- PartClusters.similarities <-- Codebooks.cut <-- fit_codebooks

The public names are imported on first use, so that ``partdino --help`` does not import torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from partdino.version import __version__

if TYPE_CHECKING:
    from partdino.describe.boundaries import detect_boundaries
    from partdino.describe.contrast import border_contrast
    from partdino.describe.features import extract_features, load_backbone
    from partdino.describe.pooling import pool
    from partdino.describe.regions import make_regions, region_adjacency, split_into_cells
    from partdino.estimator import PartDiscovery
    from partdino.method import Method
    from partdino.parts.codebook import Codebooks, PartClusters, fit_codebooks
    from partdino.parts.foreground import fit_foreground, select_foreground
    from partdino.parts.label_map import resize_label_map
    from partdino.parts.outline import refine_outline
    from partdino.parts.projection import fit_projection
    from partdino.parts.result import PartSegmentation
    from partdino.parts.smoothing import smooth

# Where each name is; the imports above tell the same to editors and type checkers.
_PUBLIC = {
    "Codebooks": "parts.codebook",
    "Method": "method",
    "PartClusters": "parts.codebook",
    "PartDiscovery": "estimator",
    "PartSegmentation": "parts.result",
    "border_contrast": "describe.contrast",
    "detect_boundaries": "describe.boundaries",
    "extract_features": "describe.features",
    "fit_codebooks": "parts.codebook",
    "fit_foreground": "parts.foreground",
    "fit_projection": "parts.projection",
    "load_backbone": "describe.features",
    "make_regions": "describe.regions",
    "pool": "describe.pooling",
    "refine_outline": "parts.outline",
    "region_adjacency": "describe.regions",
    "resize_label_map": "parts.label_map",
    "select_foreground": "parts.foreground",
    "smooth": "parts.smoothing",
    "split_into_cells": "describe.regions",
}

__all__ = [
    "Codebooks",
    "Method",
    "PartClusters",
    "PartDiscovery",
    "PartSegmentation",
    "__version__",
    "border_contrast",
    "detect_boundaries",
    "extract_features",
    "fit_codebooks",
    "fit_foreground",
    "fit_projection",
    "load_backbone",
    "make_regions",
    "pool",
    "refine_outline",
    "region_adjacency",
    "resize_label_map",
    "select_foreground",
    "smooth",
    "split_into_cells",
]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
