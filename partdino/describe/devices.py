"""What is asked of a device of torch: to be here, to take images, to compute in a number format."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import torch
from torch import Tensor

from partdino.errors import ConfigError

PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
_BF16 = ("avx512_bf16", "amx_bf16")  # products of it in hardware


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


def has_bf16() -> bool:
    """Tell whether this CPU computes products of bf16 in hardware.

    HED and the backbones then take 0.3 to 0.6 of the processor time that they take in float32;
    elsewhere they take longer.
    """
    # Older versions of torch do not tell.
    capabilities: Mapping[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    return any(capabilities.get(name) for name in _BF16)


def in_precision(precision: str, device: torch.device) -> AbstractContextManager:
    """Return a context in which networks compute in a number format, one of `PRECISIONS`."""
    dtype = PRECISIONS[precision]
    return torch.autocast(device.type, dtype, enabled=dtype != torch.float32)
