"""Holistically-nested edge detection (HED): a learned boundary detector.

Xie & Tu, "Holistically-Nested Edge Detection", ICCV 2015: the five convolution blocks of VGG16, one
side output a block, fused at the resolution of the input. The weights are trained on BSDS500.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from threading import Lock

import h5py
import numpy as np
import torch
import torch.nn.functional as F
from scipy.special import expit
from torch import Tensor, nn

from partdino.describe import weights
from partdino.describe.devices import in_precision, upload
from partdino.errors import WeightsError

_MEAN_BGR = (104.00699, 116.66877, 122.67892)
_CACHED = 2**19  # numbers whose products a processor's cache has room for
_BLOCKS = ((3, 64, 2), (64, 128, 2), (128, 256, 3), (256, 512, 3), (512, 512, 3))  # in, out, convs


class HED(nn.Module):
    """The fused output of HED; knows its own preprocessing, works at any image size."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(_block(*sizes) for sizes in _BLOCKS)
        self.sides = nn.ModuleList(nn.Conv2d(width, 1, 1) for _, width, _ in _BLOCKS)
        self.fuse = nn.Conv2d(len(_BLOCKS), 1, 1)
        self.mean: Tensor
        self.register_buffer("mean", torch.tensor(_MEAN_BGR).view(1, 3, 1, 1), persistent=False)

    def forward(self, images: Tensor) -> Tensor:
        """Detect the boundaries of a batch.

        Parameters
        ----------
        images
            float (B, 3, H, W), RGB in [0, 255].

        Returns
        -------
        Tensor
            float (B, 1, H, W), the logit of a boundary.
        """
        size = images.shape[-2:]
        x = images.flip(1) - self.mean
        sides = []
        for level, (block, side) in enumerate(zip(self.blocks, self.sides, strict=True)):
            if level:
                x = F.max_pool2d(x, kernel_size=2, stride=2, ceil_mode=True)
            x = block(x)
            logits = _side_output(x, side)
            sides.append(F.interpolate(logits, size, mode="bilinear", align_corners=False))
        return _weighted_sum(torch.cat(sides, dim=1), self.fuse)


def load_hed(path: Path, device: str = "cpu") -> HED:
    """Build HED from a Keras weights file.

    Parameters
    ----------
    path
        HDF5 file with `block{1..5}/layers/conv2d[_1][_2]`, `dsn{1..5}` and `fuse`, each holding
        `vars/0` (kernel, height-width-in-out) and `vars/1` (bias).
    device
        Torch device of the network.

    Returns
    -------
    HED
        In evaluation mode.

    Raises
    ------
    WeightsError
        The file is no HDF5 file, lacks an array, or an array has another shape.
    """
    model = HED()
    try:
        with h5py.File(path, "r") as file:
            for group, convolution in _layout(model):
                _fill(convolution, file, group)
    except (OSError, KeyError, ValueError) as error:
        cure = "fetch it again with `partdino weights pull hed`"
        raise WeightsError(f"{path} does not hold HED weights ({error}); {cure}") from error
    # Channels last: measured a tenth faster on a CPU.
    model.eval().requires_grad_(False)
    return model.to(device=torch.device(device), memory_format=torch.channels_last)  # type: ignore[call-overload]


def detect(images: np.ndarray, device: str = "cpu", precision: str = "fp32") -> np.ndarray:
    """Run HED, with the weights of the cache.

    Parameters
    ----------
    images
        uint8 (B, H, W, 3), RGB. On a CPU they go through the network one by one, as in
        `Backbone.extract`.
    device
        Torch device; the network is loaded once per process and device.
    precision
        "fp32", or "bf16" or "fp16" for torch's mixed precision.

    Returns
    -------
    ndarray
        float32 (B, H, W) in [0, 1], the probability of a boundary.

    Raises
    ------
    WeightsError
        The weights are missing, damaged, or not those of HED.
    """
    with _LOADING:
        model = _cached(weights.path("hed"), device)
    batches = np.split(images, len(images)) if device == "cpu" else [images]
    with torch.inference_mode(), in_precision(precision, torch.device(device)):
        logits = [model(upload(batch, torch.device(device)))[:, 0] for batch in batches]
    # Not torch's sigmoid: its bits depend on where the threads divide the image.
    return expit(torch.cat(logits).float().cpu().numpy())


_cached = cache(load_hed)
_LOADING = Lock()  # threads wait for the first one's network


def _weighted_sum(x: Tensor, convolution: nn.Module) -> Tensor:
    """Apply a 1x1 convolution to one channel, to the same bits whatever the number of threads.

    As a matrix product it is summed in an order that depends on the threads.
    """
    assert isinstance(convolution, nn.Conv2d)
    weight = convolution.weight.view(1, -1, 1, 1)
    assert convolution.bias is not None
    return (x * weight).sum(dim=1, keepdim=True) + convolution.bias


def _side_output(x: Tensor, convolution: nn.Module) -> Tensor:
    """Return the same, a few rows at a time on a CPU: their products stay in its cache."""
    rows = max(1, _CACHED * x.shape[2] // x.numel()) if x.device.type == "cpu" else x.shape[2]
    return torch.cat([_weighted_sum(strip, convolution) for strip in x.split(rows, dim=2)], dim=2)


def _block(width_in: int, width_out: int, count: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for index in range(count):
        width = width_out if index else width_in
        layers += [nn.Conv2d(width, width_out, 3, padding=1), nn.ReLU(inplace=True)]
    return nn.Sequential(*layers)


def _layout(model: HED) -> list[tuple[str, nn.Conv2d]]:
    """Pair every convolution with its group in the file."""
    pairs: list[tuple[str, nn.Conv2d]] = [("fuse", model.fuse)]
    for level, (block, side) in enumerate(zip(model.blocks, model.sides, strict=True), start=1):
        convolutions = [
            layer for layer in (side, *block.children()) if isinstance(layer, nn.Conv2d)
        ]
        pairs.append((f"dsn{level}", convolutions[0]))
        for index, convolution in enumerate(convolutions[1:]):
            suffix = f"_{index}" if index else ""
            pairs.append((f"block{level}/layers/conv2d{suffix}", convolution))
    return pairs


def _fill(convolution: nn.Conv2d, file: h5py.File, group: str) -> None:
    kernel = torch.from_numpy(file[f"{group}/vars/0"][()]).permute(3, 2, 0, 1)
    bias = torch.from_numpy(file[f"{group}/vars/1"][()])
    assert convolution.bias is not None
    if kernel.shape != convolution.weight.shape or bias.shape != convolution.bias.shape:
        raise ValueError(f"{group} has the shape of another network")
    with torch.no_grad():
        convolution.weight.copy_(kernel)
        convolution.bias.copy_(bias)
