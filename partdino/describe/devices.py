"""What is asked of a device of torch: to be here, to take images, to compute in a number format."""

from __future__ import annotations

from contextlib import AbstractContextManager

import numpy as np
import torch
from torch import Tensor

from partdino.errors import ConfigError

PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def usable_device(device: str) -> torch.device:
    """Return a device of torch by its name; raises `ConfigError` if it is not here."""
    try:
        chosen = torch.device(device)
        torch.empty(1, device=chosen)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ConfigError(
            f"device '{device}' cannot be used here; --device cpu always can"
        ) from error
    return chosen


def upload(images: np.ndarray, device: torch.device) -> Tensor:
    """Bring images to a device.

    Parameters
    ----------
    images
        uint8 (B, h, w, 3).
    device
        A CUDA device gets them through pinned memory, while it may still compute something else.

    Returns
    -------
    Tensor
        float32 (B, 3, h, w), in grey levels.
    """
    pixels = torch.tensor(images)
    if device.type == "cuda":
        pixels = pixels.pin_memory()
    return pixels.to(device, non_blocking=True).permute(0, 3, 1, 2).float()


def in_precision(precision: str, device: torch.device) -> AbstractContextManager:
    """Return a context in which networks compute in a number format, one of `PRECISIONS`."""
    dtype = PRECISIONS[precision]
    return torch.autocast(device.type, dtype, enabled=dtype != torch.float32)
