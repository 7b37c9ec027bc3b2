"""Boundary maps: how likely a boundary runs through each pixel of an image."""

from __future__ import annotations

import numpy as np

from partdino import weights
from partdino.errors import ConfigError

METHODS = ("hed", "gradient")


def detect_boundaries(image: np.ndarray, method: str = "hed", device: str = "cpu") -> np.ndarray:
    """Compute the boundary map of an image.

    Parameters
    ----------
    image
        uint8 (H, W, 3), RGB.
    method
        `hed`: learned (Xie & Tu, 2015), needs its weights; `gradient`: multi-scale colour gradient.
    device
        Torch device for `hed`; the same image gives the same map at every call on a CPU.

    Returns
    -------
    ndarray
        float32 (H, W) in [0, 1]; 1 is a boundary.

    Raises
    ------
    ConfigError
        The method is unknown.
    WeightsError
        `hed` is asked for and its weights are missing or damaged.
    """
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        raise ValueError(f"expected uint8 (H, W, 3), got {image.dtype} {image.shape}")
    # Imported where used: `gradient` shall not wait for torch.
    if method == "hed":
        from partdino.boundaries import hed

        return hed.detect(image, device)
    if method == "gradient":
        from partdino.boundaries import gradient

        return gradient.detect(image)
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
        The detector, and one line that says why it was chosen. `auto` is `hed` where its weights
        are in the cache (checked when they are loaded), else `gradient`.

    Raises
    ------
    ConfigError
        The method is unknown.
    """
    if method in METHODS:
        return method, "as asked"
    if method != "auto":
        choices = ", ".join(("auto", *METHODS))
        raise ConfigError(f"unknown boundary detector '{method}'; take one of: {choices}")
    if weights.is_available("hed"):
        return "hed", "its weights are cached"
    return "gradient", "no HED weights; `partdino weights pull hed` fetches them"
