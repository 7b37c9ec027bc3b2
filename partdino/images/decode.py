"""From an open file to RGB rows: Pillow for photos, tifffile and OpenCV for deep images."""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import cv2
import numpy as np
import tifffile
from PIL import Image
from tifffile import PHOTOMETRIC

from partdino.images.depth import display_range, to_uint8
from partdino.images.formats import pillow_formats

MAX_PIXELS = 500_000_000
"""The largest image that is decoded; RGB at this size takes 2 GB while it is read."""

_TIFF_STARTS = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
_DEEP_PHOTOMETRICS = (PHOTOMETRIC.MINISBLACK, PHOTOMETRIC.MINISWHITE, PHOTOMETRIC.RGB)
_ORIENTATION = 0x0112
_WHITE = 255

# Damaged files make the decoders chatty; what the user needs to know is in the error.
warnings.filterwarnings("ignore", module=r"PIL\.")
for _name in ("PIL", "tifffile"):
    logging.getLogger(_name).addHandler(logging.NullHandler())
_open_lock = threading.Lock()


class TooLargeError(Exception):
    """The image has more than `MAX_PIXELS` pixels."""


@dataclass(frozen=True)
class Decoded:
    """A decoded image that gives its rows as RGB: never a second full-size copy in memory.

    Attributes
    ----------
    height, width
        Size of the decoded grid.
    extent
        (height, width) of the photo on that grid. A reduced JPEG ends within its last cell.
    size
        (height, width) of the photo as stored, before the orientation is applied.
    orientation
        EXIF orientation that is still to be applied, 1 to 8.
    rows
        ``rows(start, stop)`` gives uint8 (stop - start, width, 3).
    """

    height: int
    width: int
    extent: tuple[float, float]
    size: tuple[int, int]
    orientation: int
    rows: Callable[[int, int], np.ndarray]


def decode(stream: BinaryIO, enough: Callable[[int, int], tuple[int, int]]) -> Decoded:
    """Decode the first image of a file.

    Parameters
    ----------
    stream
        A file of one of Pillow's formats or any TIFF that tifffile reads, open at its start.
    enough
        Gives for the (height, width) of the photo the size below which a JPEG must not be decoded.

    Returns
    -------
    Decoded
        Alpha is composited over white, as viewers show it; colour profiles are ignored; deep values
        are mapped as `partdino.images.depth.display_range` says.

    Raises
    ------
    TooLargeError
        More than `MAX_PIXELS`.
    Exception
        Whatever the decoders raise on a damaged file.
    """
    start = stream.read(32)
    stream.seek(0)
    if start.startswith(_TIFF_STARTS):
        deep = _decode_deep_tiff(stream)
        if deep is not None:
            return deep
    if start[1:4] == b"PNG" and start[24:25] == b"\x10":
        return _decode_deep_png(stream)
    stream.seek(0)
    return _decode_photo(open_image(stream), enough)


def decode_raw(
    stream: BinaryIO, enough: Callable[[int, int], tuple[int, int]], upright: bool
) -> Decoded:
    """Develop a camera's raw image, with the camera's white balance; parameters as for `decode`.

    LibRaw turns it upright itself. Where half the size is enough, each four samples become one
    pixel, without interpolation.

    Raises
    ------
    TooLargeError
        More than `MAX_PIXELS`.
    Exception
        Whatever LibRaw raises on a damaged file.
    """
    import rawpy

    with rawpy.imread(stream) as raw:
        size = (raw.sizes.height, raw.sizes.width)
        _check_size(*size)
        half = all(2 * need <= full for need, full in zip(enough(*size), size, strict=True))
        turn = None if upright else 0
        pixels = raw.postprocess(use_camera_wb=True, half_size=half, user_flip=turn)
        if upright and raw.sizes.flip in (5, 6):  # a quarter turn to either side
            size = size[::-1]
    height, width = pixels.shape[:2]
    return Decoded(height, width, (height, width), size, 1, lambda start, stop: pixels[start:stop])


def open_image(file: BinaryIO | Path) -> Image.Image:
    """Open an image with Pillow, of `MAX_PIXELS` at most.

    Raises
    ------
    TooLargeError
        More than `MAX_PIXELS`.
    OSError, SyntaxError
        Whatever Pillow raises on a damaged file.
    """
    # Pillow's limit is a global that warns first and is too low for scans: ours takes its place,
    # only while a header is read, so that other users of Pillow in this process keep theirs.
    with _open_lock:
        limit, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
        try:
            image = Image.open(file, formats=pillow_formats())
        finally:
            Image.MAX_IMAGE_PIXELS = limit
    _check_size(image.height, image.width)
    return image


def _check_size(height: int, width: int) -> None:
    if height * width > MAX_PIXELS:
        raise TooLargeError(f"{width} x {height} pixels")


def _decode_photo(image: Image.Image, enough: Callable[[int, int], tuple[int, int]]) -> Decoded:
    stored = image.size
    height, width = enough(image.height, image.width)
    reduced = image.draft(None, (width, height))
    image.load()
    # Pillow turns TIFFs itself while it loads them: their size is known only now.
    width, height = stored if reduced else image.size
    extent = (reduced[1][3], reduced[1][2]) if reduced else (height, width)
    orientation = 1 if image.format == "TIFF" else _orientation(image)
    if image.mode == "F" or image.mode.startswith("I"):
        return _decode_deep(np.asarray(image), orientation)

    def rows(start: int, stop: int) -> np.ndarray:
        return _rgb(image.crop((0, start, image.width, stop)))

    return Decoded(image.height, image.width, extent, (height, width), orientation, rows)


def _orientation(image: Image.Image) -> int:
    try:
        return image.getexif().get(_ORIENTATION, 1)
    except Exception:  # whatever damaged EXIF data provokes: the photo itself may be fine
        return 1


def _rgb(image: Image.Image) -> np.ndarray:
    if "A" in image.mode or "a" in image.mode or "transparency" in image.info:
        rgba = np.asarray(image.convert("RGBA"))
        return _over_white(rgba[..., :3], rgba[..., 3:])
    return np.asarray(image.convert("RGB"))


def _over_white(colour: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    opaque = alpha.astype(np.uint32)
    return ((colour * opaque + _WHITE * (255 - opaque) + 127) // 255).astype(np.uint8)


def _decode_deep_tiff(stream: BinaryIO) -> Decoded | None:
    """Decode a TIFF whose samples Pillow would clip or refuse; None where Pillow reads it well."""
    with tifffile.TiffFile(stream) as file:
        if not file.pages:
            raise EOFError  # the directory of pages lies beyond the end of the file
        page = file.pages.first
        is_rgb = page.photometric == PHOTOMETRIC.RGB
        is_shallow = page.dtype is not None and page.dtype.itemsize == 1
        if page.photometric not in _DEEP_PHOTOMETRICS or (
            is_shallow and page.samplesperpixel in ((3, 4) if is_rgb else (1, 2))
        ):
            return None
        _check_size(page.imagelength, page.imagewidth)
        array = _tiff_array(page, file)
        has_alpha = any(page.extrasamples[:1])  # 0: a channel that is not transparency
        tag = page.tags.get(_ORIENTATION)
        orientation = tag.value if tag else 1
        inverted = page.photometric == PHOTOMETRIC.MINISWHITE
        return _decode_deep(array, orientation, has_alpha, inverted)


def _tiff_array(page: tifffile.TiffPage, file: tifffile.TiffFile) -> np.ndarray:
    try:
        array = page.asarray()
    except ValueError as error:
        if "imagecodecs" not in str(error):
            raise
        # LZW, the most usual compression, needs an extra codec package there but not in OpenCV.
        return _opencv_array(_without_orientation(page, file))
    return np.moveaxis(array, 0, -1) if page.axes == "SYX" else array


def _without_orientation(page: tifffile.TiffPage, file: tifffile.TiffFile) -> bytearray:
    """Return the file's content with the orientation blanked, which OpenCV would apply itself.

    The imagecodecs library would decode such files without this: a wheel of 26 MB in the place of
    these few lines.
    """
    file.filehandle.seek(0)
    content = bytearray(file.filehandle.read())
    tag = page.tags.get(_ORIENTATION)
    if tag:
        one = (1).to_bytes(2, "little" if file.byteorder == "<" else "big")
        content[tag.valueoffset : tag.valueoffset + 2] = one
    return content


def _decode_deep_png(stream: BinaryIO) -> Decoded:
    # Pillow halves the depth of 16-bit colour, but reports damage and orientation well.
    image = open_image(stream)
    image.load()
    orientation = _orientation(image)
    del image
    stream.seek(0)
    array = _opencv_array(stream.read())
    return _decode_deep(array, orientation, has_alpha=array.shape[2:] == (4,))


def _opencv_array(content: bytes | bytearray) -> np.ndarray:
    array = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_UNCHANGED)
    if array is None:
        raise EOFError
    if array.ndim == 3:
        array[..., :3] = array[..., 2::-1].copy()
    return array


def _decode_deep(
    array: np.ndarray, orientation: int, has_alpha: bool = False, inverted: bool = False
) -> Decoded:
    """Wrap an (H, W) or (H, W, C) array of any real type."""
    array = array[..., None] if array.ndim == 2 else array
    height, width, channels = array.shape
    colour = array[..., :3] if channels >= 3 else array[..., :1]
    black, white = display_range(colour)
    if inverted:
        black, white = white, black
    alpha = array[..., colour.shape[2] :][..., :1]
    opaque = 1 if array.dtype.kind == "f" else np.iinfo(array.dtype).max

    def rows(start: int, stop: int) -> np.ndarray:
        pixels = to_uint8(colour[start:stop], black, white)
        if has_alpha:
            pixels = _over_white(pixels, to_uint8(alpha[start:stop], 0, opaque))
        return np.broadcast_to(pixels, (stop - start, width, 3))

    return Decoded(height, width, (height, width), (height, width), orientation, rows)
