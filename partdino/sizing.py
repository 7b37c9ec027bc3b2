"""Working sizes: a given area in the aspect ratio of the image."""

from __future__ import annotations

from math import sqrt

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
    return tuple(
        max(round(length / unit), least) * unit
        for length in (side * sqrt(aspect), side / sqrt(aspect))
    )
