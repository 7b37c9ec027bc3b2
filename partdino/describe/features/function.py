"""Dense features of a function that is no network of timm: a researcher's own, or a plugin's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from partdino.errors import ConfigError

# From uint8 (h, w, 3) RGB to float (gh, gw, D): a grid that covers the image evenly.
FeatureFunction = Callable[[np.ndarray], np.ndarray]

_SIDE = 448  # of the input, unless the function asks for another


class FunctionFeatures(nn.Module):
    """A function in the place of a network.

    Parameters
    ----------
    function
        Its attributes ``patch_size`` (what the sides of its input are multiples of; 1) and
        ``default_image_size`` (the root of the input's area; 448) are minded where it has them.
    name
        What errors call it.

    Raises
    ------
    ConfigError
        It does not return features of a grey image.
    """

    layer = None

    def __init__(self, function: FeatureFunction, name: str) -> None:
        super().__init__()
        self._function = function
        self._name = name
        self.multiple = int(getattr(function, "patch_size", 1))
        self.default_size = int(getattr(function, "default_image_size", _SIDE))
        side = max(64 // self.multiple, 2) * self.multiple
        rows, _, self.dim = self._features(np.full((side, side, 3), 127, np.uint8)).shape
        self.stride = max(1, side // rows)

    def forward(self, pixels: Tensor) -> Tensor:
        """Map images (B, 3, h, w) in grey levels to features (B, gh, gw, dim)."""
        images = pixels.permute(0, 2, 3, 1).to(torch.uint8).cpu().numpy()
        return torch.from_numpy(np.stack([self._features(image) for image in images]))

    def _features(self, image: np.ndarray) -> np.ndarray:
        features = np.asarray(self._function(image), np.float32)
        if features.ndim != 3 or 0 in features.shape or not np.isfinite(features).all():
            raise ConfigError(
                f"features '{self._name}' returned {features.shape} for an image of "
                f"{image.shape[:2]}; return finite numbers, (rows, columns, dimensions)"
            )
        return features
