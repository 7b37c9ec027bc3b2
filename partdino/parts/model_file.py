"""The model file: one safetensors file holds everything that labelling needs."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from partdino.errors import ConfigError, ModelError
from partdino.files import recover_folder, write_bytes
from partdino.method import METHOD_OF_0_1
from partdino.options import (
    NUMBERS,
    OPTION_NAMES,
    RUNNING_OPTIONS,
    FittedOptions,
    Options,
    convert,
    refuse_unknown,
)
from partdino.parts.codebook import PartClusters
from partdino.parts.foreground import ForegroundModel
from partdino.parts.model import PartModel
from partdino.parts.naming import Naming
from partdino.version import __version__

_FORMAT = 2
_NAMED = 3  # of a model with names, that older versions would label background with
_TENSORS = ("mean", "components", "centroids", "parts")


def save_model(model: PartModel, path: Path) -> None:
    """Write the model atomically; raises `OutputError`."""
    from safetensors.numpy import save

    tensors = {name: getattr(model.parts, name) for name in _TENSORS}
    if model.foreground is not None:
        tensors["foreground.weights"] = model.foreground.weights
        tensors["foreground.bias"] = np.array([model.foreground.bias])
    document = {
        "format": _FORMAT if model.naming is None else _NAMED,
        "version": __version__,
        "weights_sha256": model.weights_sha256,
        "numbers": model.options.numbers.values,
        "options": {
            name: value
            for name, value in model.options.values().items()
            if name not in RUNNING_OPTIONS
        },
    }
    if model.naming is not None:
        document["naming"] = model.naming.document()
    # safetensors writes the memory of an array as it lies there, whatever its strides.
    tensors = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    content = save(tensors, {"partdino": json.dumps(document, sort_keys=True)})
    write_bytes(path, content)


def load_model(path: Path) -> PartModel:
    """Read a model file, of this version or of 0.1.

    Parameters
    ----------
    path
        Written by `save_model`.

    Raises
    ------
    ModelError
        The file cannot be read, is no such model, or holds what no fit could have made.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            document = json.loads((file.metadata() or {}).get("partdino", "null"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError as error:
        raise ModelError(f"{path} does not exist; check --model") from error
    except (OSError, SafetensorError, ValueError, TypeError, RecursionError) as error:
        raise ModelError(f"{path} is not a readable safetensors file ({error})") from error
    if not isinstance(document, dict) or document.get("format") not in (_FORMAT, _NAMED):
        raise ModelError(f"{path} is not a model of this version of Part-DINO; fit it anew")
    try:
        return _assemble(document, tensors)
    except (KeyError, TypeError, ValueError, ConfigError) as error:
        lacks = "it lacks " if isinstance(error, KeyError) else ""
        raise ModelError(f"{path} is damaged: {lacks}{error}; fit the model anew") from error


@dataclass(frozen=True, eq=False)
class ModelFile:
    """A model and the very bytes that it was read from.

    A file may be replaced while a run goes on, or lie in what the run replaces.

    Attributes
    ----------
    path
        Of the file.
    model
        What it holds.
    content
        The file to the byte.
    """

    path: Path
    model: PartModel
    content: bytes

    @classmethod
    def read(cls, path: Path) -> ModelFile:
        """Read a model file; raises `ModelError` as `load_model`, or where it is being replaced."""
        recover_folder(path)
        content = _content(path)
        model = load_model(path)  # says what is wrong with a file that cannot be read
        if _content(path) != content:
            raise ModelError(f"{path} has just been replaced; run this again")
        return cls(path, model, content)

    @property
    def sha256(self) -> str:
        """Of the content."""
        return hashlib.sha256(self.content).hexdigest()


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _assemble(document: dict[str, Any], tensors: dict[str, np.ndarray]) -> PartModel:
    """Make a model of what a file holds; raises `KeyError`, `ValueError` and `ConfigError`."""
    options, weights_sha256 = document["options"], document["weights_sha256"]
    if not isinstance(options, dict) or not isinstance(weights_sha256, str):
        raise ValueError("its description is of the wrong type")
    refuse_unknown(options, OPTION_NAMES, "options")
    numbers = document.get("numbers", METHOD_OF_0_1)
    checked = convert(Options, {**options, NUMBERS: numbers}, "options")
    if not isinstance(checked.parts, int):
        raise ValueError(f"the number of parts is {checked.parts!r}")
    # How it is run is settled where it is run.
    files = {"masks": None, "hints": None, "weights": None}
    running = {"device": "cpu", "precision": "fp32", **files}
    fitted = FittedOptions(**{**vars(checked), **running})
    mean, components, centroids, parts = (tensors[name] for name in _TENSORS)
    naming = Naming.of(document["naming"]) if document["format"] == _NAMED else None
    if naming is not None and len(naming.names) != checked.parts:
        raise ValueError(f"{len(naming.names)} names for {checked.parts} parts")
    groups = checked.parts + (naming is not None and naming.background)
    _check_parts(mean, components, centroids, parts, groups)
    if naming is not None and parts.max() + 1 != groups:
        raise ValueError("there are names without a part")
    foreground = None
    if "foreground.weights" in tensors:
        foreground = _foreground(tensors["foreground.weights"], tensors["foreground.bias"], mean)
    clusters = PartClusters(mean, components, centroids, parts, checked.numbers.centring)
    return PartModel(fitted, weights_sha256, clusters, foreground, naming=naming)


def _check_parts(
    mean: np.ndarray,
    components: np.ndarray,
    centroids: np.ndarray,
    parts: np.ndarray,
    num_parts: int,
) -> None:
    shapes = (mean.shape, components.shape, centroids.shape, parts.shape)
    dim, kept, count = mean.size, len(components) if components.ndim else 0, parts.size
    if shapes != ((dim,), (kept, dim), (count, kept), (count,)) or 0 in (dim, kept, count):
        raise ValueError(f"its tensors have shapes {', '.join(map(str, shapes))}")
    for name, tensor in zip(_TENSORS, (mean, components, centroids), strict=False):
        _check_numbers(name, tensor)
    if parts.dtype.kind not in "iu":
        raise ValueError(f"parts is of type {parts.dtype}")
    if not np.array_equal(np.unique(parts), np.arange(parts.max() + 1)) or (
        np.any(np.diff(parts) < 0) or parts.max() >= num_parts
    ):
        raise ValueError(f"parts does not number up to {num_parts} parts in order")


def _foreground(weights: np.ndarray, bias: np.ndarray, mean: np.ndarray) -> ForegroundModel:
    if weights.shape != mean.shape or bias.shape != (1,):
        raise ValueError(f"foreground has shapes {weights.shape} and {bias.shape}")
    _check_numbers("foreground.weights", weights)
    if bias.dtype.kind != "f" or not bias[0] < np.inf:  # minus infinity: there is no object
        raise ValueError("foreground.bias is not a number")
    return ForegroundModel(weights, float(bias[0]))


def _check_numbers(name: str, tensor: np.ndarray) -> None:
    if tensor.dtype.kind != "f" or not np.isfinite(tensor).all():
        raise ValueError(f"{name} holds what is no number")
