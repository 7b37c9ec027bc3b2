"""Settling every "auto" before a run, and saying in one line each what was chosen and why."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from partdino.boundaries import resolve_boundaries
from partdino.config import Options
from partdino.errors import ConfigError
from partdino.regions import DEFAULT_SCALES

if TYPE_CHECKING:
    from partdino.features import Backbone


def resolve(options: Options) -> tuple[Options, list[str]]:
    """Replace every "auto" and every default that depends on another option.

    Returns
    -------
    options
        What the run uses.
    notes
        One sentence for each choice that depends on this machine.

    Raises
    ------
    ConfigError
        The options contradict each other.
    WeightsError
        The backbone cannot be told from the weights file.
    """
    from partdino.features import resolve_backbone

    backbone, backbone_note = resolve_backbone(options.backbone, options.weights)
    boundaries, regions, regions_note = _resolve_regions(options.boundaries, options.regions)
    scale = options.region_scale
    resolved = replace(
        options,
        backbone=backbone,
        boundaries=boundaries,
        regions=regions,
        region_scale=DEFAULT_SCALES[regions] if scale is None else scale,
        device=_resolve_device(options.device),
    )
    return resolved, [backbone_note, regions_note]


def _resolve_regions(boundaries: str, regions: str) -> tuple[str, str, str]:
    reason = "as asked"
    if boundaries == "auto":
        boundaries, reason = resolve_boundaries()
        if regions in ("felzenszwalb", "slic"):
            boundaries, reason = "none", f"{regions} needs none"
        elif regions == "auto" and boundaries != "hed":
            boundaries = "none"
    if regions == "auto":
        regions = "felzenszwalb" if boundaries == "none" else "watershed"
    if regions == "watershed" and boundaries == "none":
        raise ConfigError("watershed regions need a boundary map: --boundaries hed or gradient")
    return boundaries, regions, f"Regions: {regions} with boundaries {boundaries} ({reason})."


def _resolve_device(device: str) -> str:
    if device != "auto":
        return device
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def backbone_of(options: Options) -> Backbone:
    """Load the backbone that resolved options name; raises as `load_backbone`."""
    from partdino.features import load_backbone

    return load_backbone(
        options.backbone,
        weights=options.weights,
        layer=options.layer,
        facet=options.facet,
        stride=options.stride,
        device=options.device,
        precision=options.precision,
    )
