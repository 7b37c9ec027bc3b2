"""`partdino info`: what a bug report needs."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from importlib import metadata
from typing import Any

import typer

from partdino.cli.console import print_json
from partdino.version import __version__

_LIBRARIES = (
    "torch",
    "torchvision",
    "timm",
    "numpy",
    "scipy",
    "scikit-image",
    "scikit-learn",
    "matplotlib",
    "opencv-python-headless",
    "pillow",
    "tifffile",
    "h5py",
    "safetensors",
    "huggingface_hub",
    "pydantic",
    "typer",
    "rich",
)


def info(json: bool = typer.Option(False, "--json", help="Print JSON for scripts.")) -> None:
    """Print versions, devices, weights and whether the hub answers, for a bug report."""
    report = {
        "partdino": __version__,
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "libraries": {name: _version(name) for name in _LIBRARIES},
        "devices": _attempt(_devices),
        "cache": _attempt(_cache),
        "weights": _attempt(_weights),
        "hub": _attempt(_hub),
    }
    if json:
        print_json(report)
    else:
        _print(report)


def _version(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return "not installed"


def _attempt(probe: Callable[[], Any]) -> Any:
    """Run a probe; a broken library becomes the finding, for it may be what the report is about."""
    try:
        return probe()
    except Exception as error:
        return f"failed: {type(error).__name__}: {error}"


def _devices() -> dict[str, str]:
    import torch

    from partdino.describe.devices import has_bf16

    bf16 = "bf16" if has_bf16() else "no bf16"
    found = {"cpu": f"{torch.get_num_threads()} threads, {bf16} in hardware"}
    for index in range(torch.cuda.device_count()):
        card = torch.cuda.get_device_properties(index)
        found[f"cuda:{index}"] = f"{card.name}, {card.total_memory / 2**30:.0f} GiB"
    if torch.backends.mps.is_available():
        found["mps"] = "Apple GPU"
    return found


def _cache() -> str:
    from partdino.describe import weights

    return str(weights.cache_folder())


def _weights() -> dict[str, str]:
    from partdino.describe import weights

    states = {}
    for item in weights.everything():
        if item.name in weights.CATALOGUE:
            states[item.name] = weights.verify(item.name).value
        elif item.locate():
            states[item.name] = "present"
    return states


def _hub() -> str:
    from partdino.describe.features import hub
    from partdino.describe.features.registry import PREFERRED, SHORT_NAMES

    obstacle = hub.obstacle(SHORT_NAMES[PREFERRED])
    return "answers" if obstacle is None else obstacle


def _print(report: dict[str, Any]) -> None:
    for key, value in report.items():
        if isinstance(value, dict):
            typer.echo(f"{key}:")
            for name, detail in value.items():
                typer.echo(f"  {name:<24}{detail}")
        else:
            typer.echo(f"{key}: {value}")
