"""The flood of the watershed on a device, many boundary maps at a time.

Where rain falls, it runs to the lowest neighbour and on to a minimum; what ends in the same minimum
is a basin. A flood that rises, as that of `skimage.segmentation.watershed`, finds the same basins;
the two differ only in pixels that have several lowest neighbours, or none on a plateau.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad


def flood(boundary_maps: np.ndarray, device: str) -> np.ndarray:
    """Find the basin of every pixel.

    Parameters
    ----------
    boundary_maps
        float32 (B, H, W).
    device
        Where to compute: the result is the same everywhere.

    Returns
    -------
    int32 (B, H, W): the basins of each map, 4-connected, numbered from 0 in raster order of the
    first pixel of their minimum.
    """
    height = torch.from_numpy(np.ascontiguousarray(boundary_maps)).to(device)
    index = torch.arange(height.numel(), device=device).view(height.shape)
    beside = _neighbours(index, 0)
    level = [neighbour == height for neighbour in _neighbours(height, torch.inf)]
    target = _downhill(height, index, beside)
    target, runs = _across_plateaus(target, target != index, beside, level)
    target = _join_minima(target, runs, level)
    minima = _until_stable(lambda t: t.view(-1)[t], target)
    return np.stack([_numbered(each) for each in minima.cpu().numpy()])


def _downhill(height: Tensor, index: Tensor, beside: list[Tensor]) -> Tensor:
    """Return the index of the lowest neighbour of each pixel, its own where none is lower."""
    lowest = height
    for other, value in zip(beside, _neighbours(height, torch.inf), strict=True):
        index = torch.where(value < lowest, other, index)
        lowest = torch.minimum(value, lowest)
    return index


def _across_plateaus(
    target: Tensor, runs: Tensor, beside: list[Tensor], level: list[Tensor]
) -> tuple[Tensor, Tensor]:
    """Let plateaus run to where they spill over; return the targets, and which pixels run."""
    while True:
        spilled = runs
        for other, same, ran in zip(beside, level, _neighbours(runs, False), strict=True):
            target = torch.where(~spilled & same & ran, other, target)
            spilled = spilled | (same & ran)
        if torch.equal(spilled, runs):
            return target, runs
        runs = spilled


def _join_minima(target: Tensor, runs: Tensor, level: list[Tensor]) -> Tensor:
    """Let all pixels of a minimum stand at the first of them."""

    def joined(before: Tensor) -> Tensor:
        after = before
        for other, same in zip(_neighbours(before, 0), level, strict=True):
            after = torch.where(same & ~runs, torch.minimum(after, other), after)
        return torch.where(runs, after, after.view(-1)[after])

    return _until_stable(joined, target)


def _until_stable(step: Callable[[Tensor], Tensor], state: Tensor) -> Tensor:
    while not torch.equal(after := step(state), state):
        state = after
    return state


def _neighbours(values: Tensor, outside: float) -> list[Tensor]:
    """Return what is above, left, right and below of every pixel of (B, H, W)."""
    padded = pad(values, (1, 1, 1, 1), value=outside)
    return [
        padded[:, :-2, 1:-1],
        padded[:, 1:-1, :-2],
        padded[:, 1:-1, 2:],
        padded[:, 2:, 1:-1],
    ]


def _numbered(minima: np.ndarray) -> np.ndarray:
    _, numbers = np.unique(minima, return_inverse=True)
    return numbers.reshape(minima.shape).astype(np.int32)
