"""Boundary maps: how likely a boundary runs through each pixel of an image."""

from __future__ import annotations

import numpy as np

from partdino.describe import weights
from partdino.errors import ConfigError

METHODS = ("hed", "gradient")


def detect_boundaries(
    image: np.ndarray, method: str = "hed", device: str = "cpu", precision: str = "fp32"
) -> np.ndarray:
    """Compute the boundary map of an image, or of several of one size.

    Parameters
    ----------
    image
        uint8 (H, W, 3), RGB, or (B, H, W, 3).
    method
        `hed`: learned (Xie & Tu, 2015), needs its weights; `gradient`: multi-scale colour gradient.
    device
        Torch device for `hed`; the same image gives the same map at every call on a CPU, alone or
        among others.
    precision
        Number format of `hed`: "fp32", "bf16" or "fp16".

    Returns
    -------
    ndarray
        float32 (H, W) or (B, H, W) in [0, 1]; 1 is a boundary.

    Raises
    ------
    ConfigError
        The method is unknown.
    WeightsError
        `hed` is asked for and its weights are missing or damaged.
    """
    if image.dtype != np.uint8 or image.ndim not in (3, 4) or image.shape[-1] != 3:
        raise ValueError(f"expected uint8 (H, W, 3), got {image.dtype} {image.shape}")
    images = image.reshape(-1, *image.shape[-3:])
    return _detect(images, method, device, precision).reshape(image.shape[:-1])


def _detect(images: np.ndarray, method: str, device: str, precision: str) -> np.ndarray:
    # Imported where used: `gradient` shall not wait for torch.
    if method == "hed":
        from partdino.describe.boundaries import hed

        return hed.detect(images, device, precision)
    if method == "gradient":
        from partdino.describe.boundaries import gradient

        return np.stack([gradient.detect(image) for image in images])
    raise ConfigError(f"unknown boundary detector '{method}'; take one of: {', '.join(METHODS)}")


def resolve_boundaries(method: str = "auto") -> tuple[str, str]:
    """Choose a boundary detector.

    Parameters
    ----------
    method
        `auto`, `hed` or `gradient`.

    Returns
    -------
    tuple of str
        The detector, and why `auto` stands for it: it is `hed` where its weights are in the cache
        (checked when they are loaded), else `gradient`.

    Raises
    ------
    ConfigError
        The method is unknown.
    """
    if method in METHODS:
        return method, ""
    if method != "auto":
        choices = ", ".join(("auto", *METHODS))
        raise ConfigError(f"unknown boundary detector '{method}'; take one of: {choices}")
    if weights.is_available("hed"):
        return "hed", "its weights are cached"
    return "gradient", "no HED weights; `partdino weights pull hed` fetches them"
