"""Position embeddings of DINO v1, and of DINOv2 without registers, on grids of any size.

timm resamples them with antialiasing and half-pixel centres. Meta's code for these models, with
which all numbers of their papers were made, does neither: it asks for a grid that is a tenth of a
square larger (a guard against rounding), and the scale of that is what places the samples. The
tokens differ by up to some percent wherever the grid is not the stored one.
"""

from __future__ import annotations

from types import MethodType
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

_OFFSET = 0.1  # squares


def has_offset(architecture: str) -> bool:
    """Tell whether Meta's code for an architecture of timm interpolates with the offset."""
    return architecture.endswith(".dino") or (
        "dinov2" in architecture and "reg4" not in architecture
    )


def place_as_meta(model: Any) -> None:
    """Let a ``VisionTransformer`` of timm, with ``dynamic_img_size``, place its patches as Meta's.

    The model is changed in place.
    """
    model._pos_embed = MethodType(_add_positions, model)


def resample_with_offset(position: Tensor, grid: tuple[int, int]) -> Tensor:
    """Resample a square grid of position embeddings.

    Parameters
    ----------
    position
        float (1, side * side, D).
    grid
        (rows, columns) of the result.

    Returns
    -------
    Tensor
        float (1, rows * columns, D); as given where the grid is the stored one.
    """
    side = round(position.shape[1] ** 0.5)
    if grid == (side, side):
        return position
    square = position.float().reshape(1, side, side, -1).permute(0, 3, 1, 2)
    rows, columns = grid
    scale = ((rows + _OFFSET) / side, (columns + _OFFSET) / side)
    resampled = F.interpolate(square, scale_factor=scale, mode="bicubic", align_corners=False)
    return resampled.permute(0, 2, 3, 1).reshape(1, rows * columns, -1).to(position.dtype)


def _add_positions(model: Any, patches: Tensor) -> Tensor:
    """Stand in for timm: patches (B, rows, columns, D) to tokens (B, 1 + rows * columns, D)."""
    batch, rows, columns, dim = patches.shape
    position = model.pos_embed
    placed = resample_with_offset(position[:, 1:], (rows, columns))
    tokens = torch.cat(
        [
            (model.cls_token + position[:, :1]).expand(batch, -1, -1),
            patches.reshape(batch, rows * columns, dim) + placed,
        ],
        dim=1,
    )
    return model.pos_drop(tokens)
