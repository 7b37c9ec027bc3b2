"""The fitted model: what labels new images with the same parts. One safetensors file holds it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_matrix, diags

from partdino.clustering import PartClusters
from partdino.config import RUNNING_OPTIONS, Options, validate
from partdino.description import ImageDescription
from partdino.errors import ModelError
from partdino.files import write_bytes
from partdino.foreground import ForegroundModel, select_foreground
from partdino.version import __version__

if TYPE_CHECKING:
    from partdino.features import Backbone
    from partdino.part_number import PartCurve

_FORMAT = 2
_TENSORS = ("mean", "components", "centroids", "parts")


def foreground_cells(
    description: ImageDescription, foreground: ForegroundModel | None
) -> np.ndarray:
    """Return bool (C,), the cells that are object: of a mask, of the model, or else all.

    The model decides for whole regions, since the object's outline is an edge of the image.
    """
    if description.inside is not None:
        return description.inside
    if foreground is None:
        return np.ones(len(description.areas), bool)
    features, contrast, areas = pool_regions(description)
    return select_foreground(foreground.score(features, contrast), areas)[description.regions]


def pool_regions(description: ImageDescription) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features float64 (R, D), contrast (R,) and areas (R,) of the regions.

    An area is a share of the image, so that every image counts alike whatever its size; that of a
    region that no cell was mostly cut from is 0.
    """
    cells = np.arange(len(description.areas))
    members = csr_matrix((description.areas, (description.regions, cells)))
    areas = members.sum(axis=1).A1
    each = diags(1 / np.where(areas > 0, areas, 1)) @ members
    return each @ description.foreground_features, each @ description.contrast, areas / areas.sum()


@dataclass(frozen=True, eq=False)
class PartModel:
    """Everything that fitting learns, and the configuration it was learnt with.

    Attributes
    ----------
    options
        The full configuration, every "auto" resolved.
    weights_sha256
        Of the backbone, see `partdino.features.WeightsIdentity`.
    parts
        Centroids and feature transform.
    foreground
        None where the foreground is given (``foreground`` "none" or "masks").
    curve
        What the number of parts was chosen by; None where it was given. The file leaves it out.
    """

    options: Options
    weights_sha256: str
    parts: PartClusters
    foreground: ForegroundModel | None
    curve: PartCurve | None = None

    def check_backbone(self, backbone: Backbone) -> None:
        """Refuse a backbone that the model was not fitted with; raises `ModelError`."""
        if backbone.weights.sha256 != self.weights_sha256:
            raise ModelError(
                f"the model was fitted with other weights of {self.options.backbone} "
                f"(sha256 {self.weights_sha256[:12]}, these are {backbone.weights.sha256[:12]}); "
                "pass the same ones (--weights) or fit anew"
            )

    def counts(self) -> dict[str, int | str]:
        """Return how many parts were asked for, chosen, and found."""
        return {
            "asked": self.options.parts if self.curve is None else self.curve.span,
            "chosen": self.options.parts,
            "found": len(self.parts),
        }

    def save(self, path: Path) -> None:
        """Write the model atomically; raises `OutputError`."""
        from safetensors.numpy import save

        tensors = {name: getattr(self.parts, name) for name in _TENSORS}
        if self.foreground is not None:
            tensors["foreground.weights"] = self.foreground.weights
            tensors["foreground.bias"] = np.array([self.foreground.bias])
        document = {
            "format": _FORMAT,
            "version": __version__,
            "weights_sha256": self.weights_sha256,
            "options": {
                name: value
                for name, value in self.options.options().items()
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
        options = validate({**document["options"], **running}, str(path))
        parts = PartClusters(*(tensors[name] for name in _TENSORS))
        foreground = None
        if "foreground.weights" in tensors:
            bias = float(tensors["foreground.bias"][0])
            foreground = ForegroundModel(tensors["foreground.weights"], bias)
        return PartModel(options, document["weights_sha256"], parts, foreground)
    except KeyError as error:
        raise ModelError(f"{path} lacks {error}; fit the model anew") from error
