"""Boundary maps: how likely a boundary runs through each pixel of an image."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from partdino import plugins
from partdino.describe import weights
from partdino.errors import ConfigError

METHODS = ("hed", "gradient")

# Of other people: from uint8 (H, W, 3) RGB to float (H, W) in [0, 1].
BoundaryFunction = Callable[[np.ndarray], np.ndarray]


def detect_boundaries(
    image: np.ndarray,
    method: str | BoundaryFunction = "hed",
    device: str = "cpu",
    precision: str = "fp32",
) -> np.ndarray:
    """Compute the boundary map of an image, or of several of one size.

    Parameters
    ----------
    image
        uint8 (H, W, 3), RGB, or (B, H, W, 3).
    method
        `hed`: learned (Xie & Tu, 2015), needs its weights; `gradient`: multi-scale colour gradient;
        the name of what an installed package offers; or a function from uint8 (H, W, 3) to float
        (H, W) in [0, 1].
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

    Examples
    --------
    >>> import numpy as np
    >>> image = np.zeros((32, 32, 3), np.uint8)
    >>> image[:, 16:] = 255
    >>> boundary_map = detect_boundaries(image, "gradient")
    >>> boundary_map.shape, int(boundary_map[16].argmax()) in (15, 16)
    ((32, 32), True)
    """
    if image.dtype != np.uint8 or image.ndim not in (3, 4) or image.shape[-1] != 3:
        raise ValueError(f"expected uint8 (H, W, 3), got {image.dtype} {image.shape}")
    images = image.reshape(-1, *image.shape[-3:])
    return _detect(images, method, device, precision).reshape(image.shape[:-1])


def _detect(
    images: np.ndarray, method: str | BoundaryFunction, device: str, precision: str
) -> np.ndarray:
    # Imported where used: `gradient` shall not wait for torch.
    if method == "hed":
        from partdino.describe.boundaries import hed

        return hed.detect(images, device, precision)
    if method == "gradient":
        from partdino.describe.boundaries import gradient

        return np.stack([gradient.detect(image) for image in images])
    function = find_detector(method) if isinstance(method, str) else method
    return np.stack([_detect_with(function, image, method) for image in images])


def find_detector(name: str) -> BoundaryFunction:
    """Return the detector of an installed package, or a function; raises `ConfigError`."""
    if not plugins.is_plugin("boundaries", name):
        known = ", ".join((*METHODS, *plugins.names("boundaries")))
        raise ConfigError(f"unknown boundary detector '{name}'; take one of: {known}")
    function = plugins.find("boundaries", name)
    if not callable(function):
        raise ConfigError(
            f"boundary detector '{name}' is no function, but {type(function).__name__}"
        )
    return function


def _detect_with(
    function: BoundaryFunction, image: np.ndarray, name: str | BoundaryFunction
) -> np.ndarray:
    found = np.asarray(function(image), np.float32)
    if found.shape != image.shape[:2] or not (found.min() >= 0 and found.max() <= 1):
        raise ConfigError(
            f"boundary detector {name!r} returned {found.shape} from {found.min():g} to "
            f"{found.max():g} for an image of {image.shape[:2]}; return one value in 0..1 a pixel"
        )
    return found


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
        find_detector(method)
        return method, ""
    if weights.is_available("hed"):
        return "hed", "its weights are cached"
    return "gradient", "no HED weights; `partdino weights pull hed` fetches them"
