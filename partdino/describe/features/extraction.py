"""The two steps of feature extraction: load a backbone, put an image through it."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import timm
import torch
from numpy.typing import NDArray

from partdino import plugins
from partdino.describe.devices import PRECISIONS, usable_device
from partdino.describe.features.backbone import Backbone
from partdino.describe.features.checkpoint import WeightsIdentity
from partdino.describe.features.convnet import ConvFeatures
from partdino.describe.features.function import FunctionFeatures
from partdino.describe.features.loading import load_model, resolve_backbone
from partdino.describe.features.positions import has_offset, place_as_meta
from partdino.describe.features.registry import AUTO, EMBEDDED, default_facet, is_vit, timm_name
from partdino.describe.features.vit import FACETS, ViTFeatures
from partdino.engine.threads import one_torch_thread
from partdino.errors import ConfigError, WeightsError
from partdino.images.sizes import resize_image

Colour = tuple[float, float, float]  # a value a channel, RGB


@one_torch_thread()  # more only wait for each other over so many small tensors
def load_backbone(
    name: str = AUTO,
    *,
    weights: str | Path | None = None,
    layer: int | None = None,
    facet: str = "auto",
    stride: int | None = None,
    device: str = "cpu",
    precision: str = "fp32",
) -> Backbone:
    """Load a backbone with its weights.

    Parameters
    ----------
    name
        A short name such as "dinov2-s14", any name of timm, or "auto" (see `resolve_backbone`).
    weights
        A ``.safetensors`` or ``.pth`` file in timm's or Meta's naming, loaded strictly; None for
        the hub, or the installed weights of the embedded backbone.
    layer
        Block whose output or attention is read; negative numbers count from the end, None is the
        last. Vision transformers only.
    facet
        "token", "key", "query" or "value" (see `ViTFeatures`); "auto" takes keys for DINO v1 and
        tokens for all others. Convolutional networks have only tokens.
    stride
        Input pixels per grid square, a divisor of the patch size (see `set_stride`); None is the
        patch size. Vision transformers only.
    device
        A device of torch.
    precision
        "fp32", or "bf16" or "fp16" for torch's mixed precision. Features are float32 always.

    Returns
    -------
    Backbone
        In evaluation mode, on the device.

    Raises
    ------
    ConfigError
        A name is unknown, or an option cannot work with this backbone or on this machine.
    WeightsError
        The weights cannot be had, or do not fit.
    """
    loading = tuple(locals().items())
    if plugins.is_plugin("features", name):
        _refuse_options(name, weights, layer, facet, stride)
        return _of_function(name, usable_device(device), loading)
    weights = None if weights is None else Path(weights)
    name, _ = resolve_backbone(name, weights)
    architecture = timm_name(name)
    if facet == "auto":
        facet = default_facet(architecture)
    _check_options(name, layer, facet, stride, precision)
    torch_device = usable_device(device)
    model, identity = load_model(name, weights)
    network: ViTFeatures | ConvFeatures
    if is_vit(architecture):
        if has_offset(architecture):
            place_as_meta(model)
        network = ViTFeatures(model, layer, facet, stride)
    else:
        network = ConvFeatures(model)
    mean, std = _normalisation(name, model)
    network.eval().to(torch_device)
    return Backbone(
        name=name,
        timm_name=architecture,
        facet=facet,
        weights=identity,
        mean=mean,
        std=std,
        device=torch_device,
        precision=precision,
        network=network,
        loading=loading,
        load_again=load_again,
    )


@lru_cache(maxsize=1)
def load_again(loading: tuple[tuple[str, Any], ...], sha256: str) -> Backbone:
    """Load in another process the backbone that this one has loaded.

    Parameters
    ----------
    loading
        See `Backbone`.
    sha256
        The identity of its weights.

    Raises
    ------
    WeightsError
        As `load_backbone`, or the weights are others by now.
    """
    backbone = load_backbone(**dict(loading))
    if backbone.weights.sha256 != sha256:
        raise WeightsError(
            f"the weights of {backbone.name} have changed since the run began; start it again"
        )
    return backbone


def extract_features(
    image: NDArray[np.uint8], backbone: Backbone, image_size: int | None = None
) -> NDArray[np.float32]:
    """Compute the features of one image of any size.

    Parameters
    ----------
    image
        uint8 (H, W, 3), RGB.
    backbone
        See `load_backbone`.
    image_size
        Square root of the network's input area in pixels; None is the backbone's default.

    Returns
    -------
    ndarray
        float32 (gh, gw, dim). The grid's squares tile the image evenly.

    Examples
    --------
    With a function in the place of a network, which takes the mean colour of patches:

    >>> import numpy as np
    >>> from partdino import load_backbone, plugins
    >>> name = plugins.refer("features", lambda image: image[::8, ::8].astype(np.float32))
    >>> backbone = load_backbone(name)
    >>> extract_features(np.zeros((40, 80, 3), np.uint8), backbone, image_size=64).shape
    (6, 12, 3)
    """
    height, width = image.shape[:2]
    size = backbone.input_size(height, width, image_size)
    return backbone.extract(resize_image(image, size)[None])[0]


def _of_function(name: str, device: torch.device, loading: tuple[tuple[str, Any], ...]) -> Backbone:
    function = plugins.find("features", name)
    if not callable(function):
        raise ConfigError(f"features '{name}' is no function, but {type(function).__name__}")
    return Backbone(
        name=name,
        timm_name=name,
        facet="token",
        weights=WeightsIdentity(f"plugin:{name}", plugins.identity("features", name)),
        mean=(0.0, 0.0, 0.0),
        std=(1.0, 1.0, 1.0),
        device=device,
        precision="fp32",
        network=FunctionFeatures(function, name),
        loading=loading,
        load_again=load_again,
    )


def _refuse_options(name: str, weights: object, layer: object, facet: str, stride: object) -> None:
    """Refuse what only networks of timm have."""
    given = {"weights": weights, "layer": layer, "stride": stride}
    given["facet"] = None if facet in ("auto", "token") else facet
    if wrong := [option for option, value in given.items() if value is not None]:
        raise ConfigError(f"features '{name}' are a function's: leave --{wrong[0]} out")


def _check_options(
    name: str, layer: int | None, facet: str, stride: int | None, precision: str
) -> None:
    """Refuse before any weights are fetched what no weights can cure."""
    if facet not in FACETS:
        raise ConfigError(f"unknown facet '{facet}'; choose from auto, {', '.join(FACETS)}")
    if precision not in PRECISIONS:
        raise ConfigError(f"unknown precision '{precision}'; choose from {', '.join(PRECISIONS)}")
    if is_vit(timm_name(name)):
        return
    if facet != "token":
        raise ConfigError(f"{name} is no vision transformer: it has no facet '{facet}', only token")
    if layer is not None or stride is not None:
        raise ConfigError(f"{name} is no vision transformer: leave --layer and --stride out")
    config = timm.get_pretrained_cfg(timm_name(name))
    if config is not None and config.fixed_input_size:
        raise ConfigError(f"{name} takes images of one size only; choose another --backbone")


def _normalisation(name: str, model: Any) -> tuple[Colour, Colour]:
    """Return mean and standard deviation in grey levels from 0 to 255."""
    if name == EMBEDDED:
        return (127.0, 127.0, 127.0), (128.0, 128.0, 128.0)
    config = model.pretrained_cfg
    mean, std = ((255 * r, 255 * g, 255 * b) for r, g, b in (config["mean"], config["std"]))
    return mean, std
