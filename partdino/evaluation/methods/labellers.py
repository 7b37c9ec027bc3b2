"""What the compared methods are once fitted: from a description to every pixel's best part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import cv2
import numpy as np

from partdino.describe.description import ImageDescription
from partdino.describe.vectors import normalise
from partdino.parts.labelling import label_pixels
from partdino.parts.model import PartModel


class Labeller(Protocol):
    """A fitted method."""

    def __call__(self, description: ImageDescription, foreground: np.ndarray) -> np.ndarray:
        """Return every pixel's best part, uint8 (h, w), 1..K.

        Parameters
        ----------
        description
            Of the image.
        foreground
            bool (h, w), the size of the description's regions. What is outside gets a part, too.
        """


@dataclass(frozen=True, eq=False)
class ModelLabeller:
    """``partdino``: this package's."""

    model: PartModel

    def __call__(self, description: ImageDescription, foreground: np.ndarray) -> np.ndarray:
        """See `Labeller`."""
        return label_pixels(description, self.model).best


@dataclass(frozen=True, eq=False)
class PatchLabeller:
    """``patch``: the cluster with the largest cosine, bilinearly upsampled from the patches.

    Attributes
    ----------
    mean, components
        float (D,) and (P, D): the centring and the principal directions of the features.
    centroids
        float (K, P), unit vectors.
    """

    mean: np.ndarray
    components: np.ndarray
    centroids: np.ndarray

    def __call__(self, description: ImageDescription, foreground: np.ndarray) -> np.ndarray:
        """See `Labeller`."""
        grid = self.similarities(description.dense).astype(np.float32)
        height, width = foreground.shape
        scores = cv2.resize(grid, (width, height), interpolation=cv2.INTER_LINEAR)
        return (scores.reshape(height, width, -1).argmax(axis=2) + 1).astype(np.uint8)

    def similarities(self, patches: np.ndarray) -> np.ndarray:
        """Return float64 (..., K), the cosines between (..., D) features and the clusters."""
        return normalise((patches - self.mean) @ self.components.T) @ self.centroids.T


@dataclass(frozen=True, eq=False)
class PositionLabeller:
    """``position``: the nearest of K places in the foreground's box.

    Attributes
    ----------
    centres
        float (K, 2), (x, y), as from `box_coordinates`.
    """

    centres: np.ndarray

    def __call__(self, description: ImageDescription, foreground: np.ndarray) -> np.ndarray:
        """See `Labeller`."""
        x, y = box_coordinates(foreground)
        across = (x - self.centres[:, :1]) ** 2
        down = (y - self.centres[:, 1:]) ** 2
        distance = down[:, :, None] + across[:, None, :]
        return (distance.argmin(axis=0) + 1).astype(np.uint8)


def box_coordinates(foreground: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return x of the columns and y of the rows of a bool (h, w), 0 to 1 over the object's box.

    Where there is no object, its box is the image.
    """
    x, y = (_over_extent(np.asarray(foreground.any(axis=axis))) for axis in (0, 1))
    return x, y


def _over_extent(occupied: np.ndarray) -> np.ndarray:
    places = np.flatnonzero(occupied) if occupied.any() else np.arange(len(occupied))
    return (np.arange(len(occupied)) + 0.5 - places[0]) / (places[-1] + 1 - places[0])
