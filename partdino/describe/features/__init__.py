"""Dense features: a grid of vectors that tell what every patch of an image shows."""

from __future__ import annotations

from partdino.describe.features.backbone import Backbone
from partdino.describe.features.checkpoint import WeightsIdentity
from partdino.describe.features.extraction import extract_features, load_backbone
from partdino.describe.features.loading import resolve_backbone
from partdino.describe.features.registry import SHORT_NAMES
from partdino.describe.features.vit import FACETS

__all__ = [
    "FACETS",
    "SHORT_NAMES",
    "Backbone",
    "WeightsIdentity",
    "extract_features",
    "load_backbone",
    "resolve_backbone",
]
