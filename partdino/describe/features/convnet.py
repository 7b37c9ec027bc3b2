"""Dense features of timm's convolutional networks: their last two stages side by side."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from timm.models.convnext import ConvNeXt
from torch import Tensor, nn

from partdino.errors import ConfigError

_NO_MAPS = "this model of timm gives no even feature maps; choose another --backbone"


class ConvFeatures(nn.Module):
    """The last two stages of a convolutional network, concatenated on the finer one's grid.

    Each stage's vectors are brought to unit length, so that both weigh the same; the coarser map is
    then resized bilinearly (half-pixel centres). The last stage of a ConvNeXt first passes the
    norm of its head, through which DINOv3 trained its dense features.

    Networks ported from TensorFlow pad even inputs at the end only, which shifts their maps by up
    to half a square; the maps are taken as they are.

    Parameters
    ----------
    model
        A model of timm with ``forward_intermediates``.

    Raises
    ------
    ConfigError
        The model has no such feature maps.
    """

    layer = None

    def __init__(self, model: Any) -> None:
        super().__init__()
        if (
            not hasattr(model, "forward_intermediates")
            or len(getattr(model, "feature_info", ())) < 2
        ):
            raise ConfigError(_NO_MAPS)
        self.model: Any = model
        head = model.head if isinstance(model, ConvNeXt) else None
        self.head_norm = getattr(head, "norm", nn.Identity())
        fine, coarse = model.feature_info[-2:]
        self.stride: int = fine["reduction"]
        self.multiple: int = coarse["reduction"]
        self.default_size = 42 * self.stride  # 672 for the usual strides of 16 and 32
        self.dim: int = fine["num_chs"] + coarse["num_chs"]
        self._check_grid()

    def forward(self, pixels: Tensor) -> Tensor:
        """Map normalised images (B, 3, h, w) to features (B, h / stride, w / stride, dim)."""
        fine, coarse = self.model.forward_intermediates(pixels, indices=2, intermediates_only=True)
        fine = F.normalize(fine.float(), dim=1)
        coarse = F.normalize(self.head_norm(coarse).float(), dim=1)
        coarse = F.interpolate(coarse, fine.shape[-2:], mode="bilinear", align_corners=False)
        return torch.cat([fine, coarse], dim=1).permute(0, 2, 3, 1)

    def _check_grid(self) -> None:
        """Try a small image: some of timm's many models crop their maps or fix their input."""
        rows, columns = 8, 12
        image = torch.zeros(1, 3, rows * self.multiple, columns * self.multiple)
        squares = self.multiple // self.stride
        try:
            with torch.inference_mode():
                shape = self(image).shape[1:]
        except (AssertionError, RuntimeError, TypeError, ValueError) as error:
            raise ConfigError(_NO_MAPS) from error
        if shape != (rows * squares, columns * squares, self.dim):
            raise ConfigError(_NO_MAPS)
