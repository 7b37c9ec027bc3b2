"""Working sizes: a given area in the aspect ratio of the image, and getting an image there."""

from __future__ import annotations

from math import sqrt

import cv2
import numpy as np

_MAX_ASPECT = 8.0  # longer images are squeezed: a strip of one or two patches tells nothing


def size_of_area(
    height: int, width: int, side: int, unit: int = 1, least: int = 1
) -> tuple[int, int]:
    """Choose a size of an image's aspect ratio and a given area.

    Parameters
    ----------
    height, width
        Size of the image, in pixels.
    side
        Square root of the wanted area, in pixels.
    unit
        What both sides are multiples of.
    least
        The fewest units of a side.

    Returns
    -------
    tuple of int
        Height and width: an aspect ratio of at most 8:1 and an area near ``side ** 2``.
    """
    aspect = min(max(height / width, 1 / _MAX_ASPECT), _MAX_ASPECT)
    rows, columns = (
        max(round(length / unit), least) * unit
        for length in (side * sqrt(aspect), side / sqrt(aspect))
    )
    return rows, columns


def resize_image(image: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Resize a uint8 (H, W, 3) image to (h, w), averaging over areas where it gets smaller."""
    if image.shape[:2] == size:
        return image
    shrinks = size[0] * size[1] < image.shape[0] * image.shape[1]
    interpolation = cv2.INTER_AREA if shrinks else cv2.INTER_CUBIC
    return cv2.resize(image, size[::-1], interpolation=interpolation)
