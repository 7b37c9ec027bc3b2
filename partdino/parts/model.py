"""The fitted model: what labels new images with the same parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from partdino.describe.description import ImageDescription
from partdino.errors import ModelError
from partdino.options import RUNNING_OPTIONS, FittedOptions, Options, validate
from partdino.parts.codebook import PartClusters
from partdino.parts.foreground import ForegroundModel, FoundObject, find_object
from partdino.parts.naming import Naming

if TYPE_CHECKING:
    from partdino.describe.features import Backbone
    from partdino.parts.part_number import PartCurve


@dataclass(frozen=True, eq=False)
class PartModel:
    """Everything that fitting learns, and the configuration it was learnt with.

    Attributes
    ----------
    options
        What it was fitted with; of a model file, `RUNNING_OPTIONS` stand at their defaults.
    weights_sha256
        Of the backbone, see `partdino.describe.features.WeightsIdentity`.
    parts
        Centroids and feature transform.
    foreground
        None where the foreground is given (``foreground`` "none" or "masks").
    curve
        What the number of parts was chosen by; None where it was given. The file leaves it out.
    steadiness
        See `Codebooks.steadiness`. The file leaves it out, so that it is None of a loaded model,
        too.
    naming
        What a person calls the parts; None as it was fitted.
    """

    options: FittedOptions
    weights_sha256: str
    parts: PartClusters
    foreground: ForegroundModel | None
    curve: PartCurve | None = None
    steadiness: float | None = None
    naming: Naming | None = None

    @property
    def labels(self) -> np.ndarray:
        """uint8 (C,): what label maps have for each part of `parts`, 0 where it is background."""
        labels = np.arange(1, len(self.parts) + 1, dtype=np.uint8)
        if self.naming is not None and self.naming.background:
            labels[-1] = 0
        return labels

    def find_object(self, description: ImageDescription) -> FoundObject:
        """Find the cells of a described image that are object."""
        return find_object(description, self.foreground, self.options.numbers)

    def foreground_cells(self, description: ImageDescription) -> np.ndarray:
        """Return bool (C,), the cells of a described image that are object."""
        return self.find_object(description).inside

    def asked(self, running: Mapping[str, Any], source: str) -> Options:
        """Return the options of a run that labels with this model.

        Parameters
        ----------
        running
            Options that say how to run, not what to compute: a choice of `RUNNING_OPTIONS`.
        source
            What an error calls the model.

        Raises
        ------
        ModelError
            Another option is given.
        ConfigError
            The values are not valid, or the model needs masks and there are none.
        """
        if other := sorted(set(running) - set(RUNNING_OPTIONS)):
            raise ModelError(f"{source} holds its own '{other[0]}'; leave that option out")
        fitted = {k: v for k, v in vars(self.options).items() if k not in RUNNING_OPTIONS}
        return validate({**fitted, **running}, source)

    def check_features(self, description: ImageDescription) -> None:
        """Raise `ModelError` where an image's features are not those that this was fitted to."""
        length, fitted = description.features.shape[1], len(self.parts.mean)
        if length != fitted:
            raise ModelError(
                f"features of length {length}, and the model was fitted to those of length "
                f"{fitted}; label with features of the same backbone"
            )

    def check_backbone(self, backbone: Backbone) -> None:
        """Refuse a backbone that the model was not fitted with; raises `ModelError`."""
        if backbone.weights.sha256 != self.weights_sha256:
            raise ModelError(
                f"the model was fitted with other weights of {self.options.backbone} "
                f"(sha256 {self.weights_sha256[:12]}, these are {backbone.weights.sha256[:12]}); "
                "pass the same ones (--weights) or fit anew"
            )

    def counts(self) -> dict[str, int | str | float]:
        """Return how many parts were asked for, chosen, and found, and how steady they are."""
        counts: dict[str, int | str | float] = {
            "asked": self.options.parts if self.curve is None else self.curve.span,
            "chosen": self.options.parts,
            "found": int((self.labels > 0).sum()),
        }
        if self.steadiness is not None:
            counts["steadiness"] = round(self.steadiness, 3)
        return counts
