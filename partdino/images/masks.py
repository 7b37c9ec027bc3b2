"""Masks that people have: which file belongs to an image, and what it marks as object."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import cv2
import numpy as np

from partdino.images.decode import TooLargeError, open_image
from partdino.images.read import ImageError

_MOST_COLOURS = 256  # of masks in colour; photos have more,
_ASPECT_ERROR = 0.02  # of masks that were scaled and rounded
_OBJECT = 0.99  # and hardly a pixel that is black


def read_mask(
    folder: Path, name: str, size: tuple[int, int], photo_size: tuple[int, int]
) -> np.ndarray:
    """Read the mask of an image.

    Parameters
    ----------
    folder
        Mirrors the images: the mask of ``a/bird.jpg`` is ``a/bird.jpg.png``, ``a/bird.png`` or
        ``a/bird.jpg`` in it.
    name
        The image's name in the run.
    size
        (h, w) to resize to, nearest neighbour.
    photo_size
        (H, W) of the photo. A mask may be smaller or larger, but of the same aspect.

    Returns
    -------
    bool (h, w), True where the mask is opaque if it is transparent anywhere, else where it is not
    0 in any channel.

    Raises
    ------
    ImageError
        There is no mask for the image, it cannot be read, it is a photo, or of another aspect than
        the image.
    """
    path = find_mask(folder, name)
    if path is None:
        expected = folder / PurePosixPath(name).with_suffix(".png")
        raise ImageError(folder / name, f"no mask; save it as {expected}")
    try:
        with open_image(path) as image:
            values, has_alpha = np.asarray(image), image.getbands()[-1] == "A"
            many = len(image.getbands()) >= 3 and image.getcolors(_MOST_COLOURS) is None
    except (OSError, ValueError, SyntaxError, TooLargeError) as error:
        raise ImageError(path, "not a readable mask; save it as PNG") from error
    _check_aspect(path, values.shape[:2], photo_size)
    inside = _object(values, has_alpha)
    if many and inside.mean() > _OBJECT:
        raise ImageError(path, "a photo, not a mask; save a PNG with 0 where there is no object")
    return resize_mask(inside, size)


def find_mask(folder: Path, name: str) -> Path | None:
    """Return the mask of an image by its name in the run, see `read_mask`; None without one."""
    names = (f"{name}.png", PurePosixPath(name).with_suffix(".png"), name)
    return next((folder / n for n in names if (folder / n).is_file()), None)


def _check_aspect(path: Path, size: tuple[int, int], photo_size: tuple[int, int]) -> None:
    height, width = photo_size
    expected = size[0] * width / height
    if abs(size[1] - expected) > max(1, width / height, _ASPECT_ERROR * expected):
        raise ImageError(
            path,
            f"a mask of {size[1]} x {size[0]} pixels for a photo of {width} x {height}: save one "
            "of the photo's shape, upright",
        )


def _object(values: np.ndarray, has_alpha: bool) -> np.ndarray:
    # The values as stored, not as shown: label 1 of 65,535 is object however dark it looks.
    if values.ndim == 2:
        return values != 0
    if has_alpha and not values[..., -1].all():
        return values[..., -1] != 0
    return np.asarray(values[..., : -1 if has_alpha else None].any(axis=2))


def resize_mask(mask: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Resize a bool (H, W) mask to (h, w), nearest neighbour."""
    return cv2.resize(mask.view(np.uint8), size[::-1], interpolation=cv2.INTER_NEAREST) > 0
