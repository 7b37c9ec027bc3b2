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
    turned = is_turned(size, (height, width)) if orientation in TURNED else None
    return (True, True) if turned is None else (turned, False)


def is_turned(size: tuple[int, ...], other: tuple[int, int]) -> bool | None:
    """Tell whether one (height, width), scaled, is rather another one turned by 90 degrees.

    None where it may be both, within the rounding of a scaled pixel: one of them is about square.

    >>> is_turned((50, 40), (400, 500)), is_turned((40, 50), (400, 500)), is_turned((9, 9), (4, 5))
    (True, False, None)
    """
    if size[0] != size[1] and size in (other, other[::-1]):
        return size != other
    aspect, expected = log(size[0] / size[1]), log(other[0] / other[1])
    difference = abs(aspect - expected) - abs(aspect + expected)
    return None if abs(difference) <= 1 / size[0] + 1 / size[1] else difference > 0
