"""Which way up a photo is annotated: as its pixels are stored, or as EXIF says to show it."""

from __future__ import annotations

from math import log
from pathlib import Path

from partdino.errors import DatasetError
from partdino.images.decode import TooLargeError, open_image

_ORIENTATION = 0x0112  # of EXIF
TURNED = (5, 6, 7, 8)  # orientations that swap height and width


def stored_frame(path: Path) -> tuple[tuple[int, int], int]:
    """Return height and width of the stored pixels, and the EXIF orientation, 1 to 8.

    Raises
    ------
    DatasetError
        The file is no readable image.
    """
    try:
        with open_image(path) as image:
            orientation = image.getexif().get(_ORIENTATION, 1)
            size = image.height, image.width
    except (OSError, SyntaxError, ValueError, TooLargeError) as error:
        raise DatasetError(f"{path}: not a readable image; restore it from the download") from error
    return size, orientation if orientation in range(1, 9) else 1


def annotated_upright(path: Path, size: tuple[int, int]) -> tuple[bool, bool]:
    """Tell in which frame a photo is annotated.

    Parameters
    ----------
    path
        The photo.
    size
        Height and width that the annotations are in.

    Returns
    -------
    upright
        Whether the EXIF orientation is to be applied to the photo. Where the size fits both frames
        it is, as most annotation tools show photos.
    open
        Whether the size leaves that open.
    """
    try:
        (height, width), orientation = stored_frame(path)
    except DatasetError:  # the image fails when it is read, and says why
        return False, False
    if orientation == 1:
        return False, False
    if orientation in TURNED and height != width:
        aspect = log(size[0] / size[1])
        return abs(aspect - log(width / height)) < abs(aspect - log(height / width)), False
    return True, True
