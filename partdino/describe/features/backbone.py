"""A backbone: a network that turns an image into a grid of feature vectors."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from partdino.describe.devices import in_precision, upload
from partdino.describe.features.checkpoint import WeightsIdentity
from partdino.describe.features.convnet import ConvFeatures
from partdino.describe.features.function import FunctionFeatures
from partdino.describe.features.vit import ViTFeatures
from partdino.engine.threads import one_torch_thread
from partdino.images.sizes import size_of_area


@dataclass(frozen=True, eq=False)
class Backbone:
    """A network with its weights, its preprocessing and the facet that is read from it.

    Pickled, it is how it was loaded: another process loads the same weights, once.

    Attributes
    ----------
    name, timm_name
        The name it was loaded by, and timm's.
    facet, layer
        What is read; `layer` counts from 0 and is None for convolutional networks.
    weights
        Which weights it runs on.
    mean, std
        Normalisation in grey levels from 0 to 255, one value a channel (RGB).
    device, precision
        Where and in which number format it runs ("fp32", "bf16" or "fp16" autocast).
    loading
        The arguments of `load_backbone` that made it.
    load_again
        What another process makes it with, from `loading` and the hash of its weights.
    """

    name: str
    timm_name: str
    facet: str
    weights: WeightsIdentity
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    device: torch.device
    precision: str
    network: ViTFeatures | ConvFeatures | FunctionFeatures = field(repr=False)
    loading: tuple[tuple[str, Any], ...] = field(repr=False)
    load_again: Callable[[tuple[tuple[str, Any], ...], str], Backbone] = field(repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return self.load_again, (self.loading, self.weights.sha256)

    def bound_for(self, device: str) -> Backbone:
        """Return this backbone, to be loaded on another device by the processes it is sent to."""
        return replace(self, loading=tuple({**dict(self.loading), "device": device}.items()))

    @property
    def layer(self) -> int | None:
        """Number of the block that is read, from 0; None for convolutional networks."""
        return self.network.layer

    @property
    def stride(self) -> int:
        """Input pixels per grid square."""
        return self.network.stride

    @property
    def patch_size(self) -> int:
        """What input sides are multiples of: a patch, or a convnet's coarsest square, in pixels."""
        return self.network.multiple

    @property
    def dim(self) -> int:
        """Length of a feature vector."""
        return self.network.dim

    @property
    def default_image_size(self) -> int:
        """Side of a square input whose grid has 32 to 42 squares a side."""
        return self.network.default_size

    def input_size(self, height: int, width: int, image_size: int | None = None) -> tuple[int, int]:
        """Choose the input size for an image.

        Parameters
        ----------
        height, width
            Size of the image.
        image_size
            Square root of the wanted area in pixels; None is `default_image_size`.

        Returns
        -------
        tuple of int
            Height and width: the image's aspect ratio (at most 8:1), an area near
            ``image_size ** 2``, both multiples of `patch_size` and at least two of them.
        """
        side = image_size or self.default_image_size
        return size_of_area(height, width, side, self.patch_size, least=2)

    def extract(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Compute the features of images.

        On a CPU images go through the network one by one: a batch is no faster there, and its
        last bits may depend on its size. Results are then the same for any batch.

        Parameters
        ----------
        images
            uint8 (B, h, w, 3), RGB; h and w multiples of `patch_size`, see `input_size`.

        Returns
        -------
        ndarray
            float32 (B, gh, gw, dim). The vector of square (i, j) belongs to the pixels from
            ``(i, j) * stride`` to ``(i + 1, j + 1) * stride``.

        Raises
        ------
        ValueError
            The array's type or shape is not as described.
        """
        if images.dtype != np.uint8 or images.ndim != 4 or images.shape[-1] != 3:
            raise ValueError(f"expected uint8 (B, h, w, 3), got {images.dtype} {images.shape}")
        if any(side == 0 or side % self.patch_size for side in images.shape[1:3]):
            size = f"{images.shape[1]}x{images.shape[2]}"
            raise ValueError(f"input size {size} is not a multiple of {self.patch_size} pixels")
        if self.device.type != "cpu":
            return self._forward(images)
        # oneDNN splits the sums of 1x1 convolutions by the number of threads, so that their last
        # bits depend on it. (Measured; the matrix products of vision transformers do not.)
        with one_torch_thread() if isinstance(self.network, ConvFeatures) else nullcontext():
            return np.concatenate([self._forward(image[None]) for image in images])

    @torch.inference_mode()
    def _forward(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        pixels = upload(images, self.device)
        mean = torch.tensor(self.mean, device=self.device).view(3, 1, 1)
        std = torch.tensor(self.std, device=self.device).view(3, 1, 1)
        with in_precision(self.precision, self.device):
            features = self.network((pixels - mean) / std)
        return features.float().cpu().numpy()
