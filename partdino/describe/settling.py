"""Settling every "auto" before a run, and saying in one line each what was chosen and why."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partdino import plugins
from partdino.describe import weights
from partdino.describe.boundaries import resolve_boundaries
from partdino.describe.regions import find_method
from partdino.errors import ConfigError
from partdino.options import STAGES, Options, SettledOptions

if TYPE_CHECKING:
    from partdino.describe.features import Backbone


def settle(
    options: Options,
    say: Callable[[str], None] = lambda note: None,
    warn: Callable[[str], None] = lambda note: None,
) -> tuple[Backbone, SettledOptions, list[str]]:
    """Settle every "auto" and every default that depends on another option, and load the backbone.

    Parameters
    ----------
    options
        What was asked for.
    say
        Called with each note, before the backbone is loaded.
    warn
        Called instead with a note that changes all results: DINO was not to be had.

    Returns
    -------
    backbone
        See `partdino.describe.features.load_backbone`, which says what else is raised.
    options
        What the run uses.
    notes
        One sentence for each choice that depends on this machine.

    Raises
    ------
    ConfigError
        The options contradict each other.
    WeightsError
        The backbone cannot be told from the weights file, or weights are not here.
    """
    from partdino.describe.features import load_backbone, resolve_backbone
    from partdino.describe.features.registry import AUTO, EMBEDDED

    if options.engine == "ray":
        _check_for_ray(options)
    asked, boundaries, regions = options.backbone, options.boundaries, options.regions
    assert isinstance(asked, str) and isinstance(boundaries, str) and isinstance(regions, str)
    name, backbone_note = resolve_backbone(asked, options.weights)
    boundaries, regions, regions_note = _settle_regions(boundaries, regions)
    notes = [backbone_note, regions_note]
    fallback = options.backbone == AUTO and name == EMBEDDED and options.weights is None
    (warn if fallback else say)(backbone_note)
    say(regions_note)
    if boundaries == "hed":
        weights.path("hed")  # raises once what every image would raise
    if options.masks is not None and not options.masks.is_dir():
        raise ConfigError(f"{options.masks} is not a folder; check --masks")
    device = settle_device(options.device)
    precision = _settle_precision(options.precision, device)
    backbone = load_backbone(
        name,
        weights=options.weights,
        layer=options.layer,
        facet=options.facet,
        stride=options.stride,
        device="cpu" if options.engine == "ray" else device,
        precision=precision,
    )
    if options.engine == "ray":  # its GPUs are the workers': the machine that leads them needs none
        backbone = backbone.bound_for(device)
    scale = options.region_scale
    settled = SettledOptions(
        **{
            **_open(options),
            "backbone": name,
            "facet": backbone.facet,
            "layer": backbone.layer,
            "image_size": options.image_size or backbone.default_image_size,
            "boundaries": boundaries,
            "regions": regions,
            "region_scale": find_method(regions).default_scale if scale is None else scale,
            "device": device,
            "precision": precision,
            "masks": _absolute(options.masks),
            "hints": _absolute(options.hints),
            "weights": _absolute(options.weights),
        }
    )
    _check_workers(settled)
    return backbone, settled, notes


def settled_of(options: Options) -> SettledOptions:
    """Return options of a store or of a model, in which all is settled but how it runs."""
    return SettledOptions(**_open(options))


def _open(options: Options) -> dict[str, Any]:
    return {field.name: getattr(options, field.name) for field in fields(SettledOptions)}


def _settle_regions(boundaries: str, regions: str) -> tuple[str, str, str]:
    needs_map = regions != "auto" and find_method(regions).needs_boundary_map
    reason = ""
    if boundaries == "auto":
        boundaries, why = resolve_boundaries()
        reason = f" ({why})"
        if regions in ("felzenszwalb", "slic"):
            boundaries, reason = "none", ""
        elif not needs_map and boundaries != "hed":
            boundaries = "none"
    elif boundaries != "none":
        resolve_boundaries(boundaries)  # raises once what every image would raise
    if regions == "auto":
        regions = "felzenszwalb" if boundaries == "none" else "watershed"
    elif needs_map and boundaries == "none":
        raise ConfigError(f"{regions} regions need a boundary map: --boundaries hed or gradient")
    return boundaries, regions, f"Regions: {regions} with boundaries {boundaries}{reason}."


def _check_workers(options: SettledOptions) -> None:
    if options.workers == 0:
        return
    for option, stage in STAGES.items():
        if plugins.is_local(stage, getattr(options, option)):
            raise ConfigError(
                f"{option} is a function that workers cannot import: define it in a module, or "
                "pass workers=0"
            )


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


def settle_device(device: str) -> str:
    """Return the device that "auto" stands for here; others are as asked."""
    if device != "auto":
        return device
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _settle_precision(precision: str, device: str) -> str:
    from partdino.describe.devices import has_bf16

    if precision != "auto":
        return precision
    # Of the CPU that leads the run, where others compute: what they compute then is the same.
    return "bf16" if device == "cpu" and has_bf16() else "fp32"
