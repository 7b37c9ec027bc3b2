"""Settling every "auto" before a run, and saying in one line each what was chosen and why."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from partdino.describe import weights
from partdino.describe.boundaries import resolve_boundaries
from partdino.describe.regions import DEFAULT_SCALES
from partdino.errors import ConfigError
from partdino.options import Options

if TYPE_CHECKING:
    from partdino.describe.features import Backbone


def resolve(options: Options) -> tuple[Options, list[str]]:
    """Replace every "auto" and every default that depends on another option.

    Those that change no result, how many workers and images at a time, are settled on the way.

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
        The backbone cannot be told from the weights file, or HED's weights are not here.
    """
    from partdino.describe.features import resolve_backbone

    if options.engine == "ray":
        _check_for_ray(options)
    backbone, backbone_note = resolve_backbone(options.backbone, options.weights)
    boundaries, regions, regions_note = _resolve_regions(options.boundaries, options.regions)
    if boundaries == "hed":
        weights.path("hed")  # raises once what every image would raise
    if options.masks is not None and not options.masks.is_dir():
        raise ConfigError(f"{options.masks} is not a folder; check --masks")
    scale = options.region_scale
    resolved = replace(
        options,
        backbone=backbone,
        boundaries=boundaries,
        regions=regions,
        region_scale=DEFAULT_SCALES[regions] if scale is None else scale,
        device=resolve_device(options.device),
        masks=_absolute(options.masks),
        weights=_absolute(options.weights),
    )
    return resolved, [backbone_note, regions_note]


def _resolve_regions(boundaries: str, regions: str) -> tuple[str, str, str]:
    reason = ""
    if boundaries == "auto":
        boundaries, why = resolve_boundaries()
        reason = f" ({why})"
        if regions in ("felzenszwalb", "slic"):
            boundaries, reason = "none", ""
        elif regions == "auto" and boundaries != "hed":
            boundaries = "none"
    if regions == "auto":
        regions = "felzenszwalb" if boundaries == "none" else "watershed"
    if regions == "watershed" and boundaries == "none":
        raise ConfigError("watershed regions need a boundary map: --boundaries hed or gradient")
    return boundaries, regions, f"Regions: {regions} with boundaries {boundaries}{reason}."


def _check_for_ray(options: Options) -> None:
    if options.workers == 0:
        raise ConfigError("--engine ray computes in workers: pass --workers 1 or more, or auto")
    if ":" in options.device:
        raise ConfigError(
            f"--engine ray gives every worker a GPU: --device cuda, not {options.device}"
        )


def _absolute(path: Path | None) -> Path | None:
    # What is written down of a run holds wherever it is read.
    return None if path is None else Path(os.path.abspath(path))


def resolve_device(device: str) -> str:
    """Return the device that "auto" stands for here; others are as asked."""
    if device != "auto":
        return device
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def load_resolved(options: Options) -> tuple[Backbone, Options]:
    """Load the backbone that resolved options name, and settle what only the backbone knows.

    Returns
    -------
    backbone
        See `partdino.describe.features.load_backbone`, which says what is raised.
    options
        With facet, layer and image size as the backbone has them.
    """
    from partdino.describe.features import load_backbone

    backbone = load_backbone(
        options.backbone,
        weights=options.weights,
        layer=options.layer,
        facet=options.facet,
        stride=options.stride,
        device=options.device_here,
        precision=options.precision,
    )
    if options.engine == "ray":  # its GPUs are the workers': the machine that leads them needs none
        backbone = backbone.bound_for(options.device)
    size = options.image_size or backbone.default_image_size
    return backbone, replace(options, facet=backbone.facet, layer=backbone.layer, image_size=size)
