"""The model file: one safetensors file holds everything that labelling needs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from partdino.errors import ModelError
from partdino.files import write_bytes
from partdino.method import METHOD_OF_0_1
from partdino.options import RUNNING_OPTIONS, validate
from partdino.parts.codebook import PartClusters
from partdino.parts.foreground import ForegroundModel
from partdino.parts.model import PartModel
from partdino.version import __version__

_FORMAT = 2
_TENSORS = ("mean", "components", "centroids", "parts")


def save_model(model: PartModel, path: Path) -> None:
    """Write the model atomically; raises `OutputError`."""
    from safetensors.numpy import save

    tensors = {name: getattr(model.parts, name) for name in _TENSORS}
    if model.foreground is not None:
        tensors["foreground.weights"] = model.foreground.weights
        tensors["foreground.bias"] = np.array([model.foreground.bias])
    document = {
        "format": _FORMAT,
        "version": __version__,
        "weights_sha256": model.weights_sha256,
        "numbers": model.options.numbers.values,
        "options": {
            name: value
            for name, value in model.options.options().items()
            if name not in RUNNING_OPTIONS
        },
    }
    # safetensors writes the memory of an array as it lies there, whatever its strides.
    tensors = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    content = save(tensors, {"partdino": json.dumps(document, sort_keys=True)})
    write_bytes(path, content)


def load_model(path: Path, running: Mapping[str, Any]) -> PartModel:
    """Read a model file.

    Parameters
    ----------
    path
        Written by `PartModel.save`.
    running
        Options that say how to run, not what to compute: a choice of `RUNNING_OPTIONS`.

    Raises
    ------
    ModelError
        The file cannot be read or is no such model.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            document = json.loads((file.metadata() or {}).get("partdino", "null"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError as error:
        raise ModelError(f"{path} does not exist; check --model") from error
    except (OSError, SafetensorError, ValueError) as error:
        raise ModelError(f"{path} is not a readable safetensors file ({error})") from error
    if document is None or document.get("format") != _FORMAT:
        raise ModelError(f"{path} is not a model of this version of Part-DINO; fit it anew")
    return _assemble(path, document, tensors, running)


def _assemble(
    path: Path,
    document: dict[str, Any],
    tensors: dict[str, np.ndarray],
    running: Mapping[str, Any],
) -> PartModel:
    other = sorted(set(running) - set(RUNNING_OPTIONS))
    if other:
        raise ModelError(f"{path} holds its own '{other[0]}'; leave that option out")
    try:
        numbers = document.get("numbers", METHOD_OF_0_1)
        options = validate({**document["options"], **running, "numbers": numbers}, str(path))
        parts = PartClusters(*(tensors[name] for name in _TENSORS), options.numbers.centring)
        foreground = None
        if "foreground.weights" in tensors:
            bias = float(tensors["foreground.bias"][0])
            foreground = ForegroundModel(tensors["foreground.weights"], bias)
        return PartModel(options, document["weights_sha256"], parts, foreground)
    except KeyError as error:
        raise ModelError(f"{path} lacks {error}; fit the model anew") from error
