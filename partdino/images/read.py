"""Reading any photo or scientific image as an upright RGB array, at a size that fits in memory."""

from __future__ import annotations

import math
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePath
from typing import BinaryIO

import cv2
import numpy as np
from PIL import Image, UnidentifiedImageError

from partdino.errors import InputError
from partdino.images.decode import MAX_PIXELS, Decoded, TooLargeError, decode, decode_raw
from partdino.images.find import printable
from partdino.images.formats import is_raw, missing_package
from partdino.images.remote import ReplacedError, as_location, fetch

_STRIP_PIXELS = 1_000_000
_EMPTY = "the file is empty; copy it again from its source"
_REPLACED = "was replaced after it was listed; once the run is finished, --resume lists anew"


class ImageError(InputError):
    """An image cannot be read.

    Attributes
    ----------
    reason
        What is wrong and the cure, without the file's name.
    """

    def __init__(self, path: Path | str, reason: str) -> None:
        super().__init__(f"{printable(path)}: {reason}")
        self.reason = reason


@dataclass(frozen=True)
class LoadedImage:
    """A decoded image.

    Attributes
    ----------
    pixels
        uint8 (h, w, 3) RGB, upright; smaller than ``size`` where the reading was bounded.
    size
        (H, W) of the original, upright.
    """

    pixels: np.ndarray
    size: tuple[int, int]


def read_image(
    path: Path | str,
    max_pixels: int | None = None,
    upright: bool = True,
    version: str | None = None,
) -> LoadedImage:
    """Read the first image of a file as RGB.

    Parameters
    ----------
    path
        A path or a URL (see `find_images`). JPEG, PNG, WebP, TIFF, BMP, GIF, PNM or JPEG 2000;
        AVIF with Pillow from 11.3, HEIF and cameras' raw files with the extra ``formats``. Grey,
        colour, palette, CMYK, with alpha (composited over white), 1 to 32 bits or float (see
        `partdino.images.depth.display_range`). The EXIF orientation is applied; of an animation or
        a stack the first image is taken; colour profiles are ignored.
    max_pixels
        Reduce a larger image to at most this many pixels, averaging over areas and keeping its
        aspect. JPEG and raw files are decoded at a reduced size then, which bounds the memory;
        other formats are decoded once at full size.
    upright
        False leaves out the EXIF orientation: the pixels as stored, which benchmarks annotate. HEIF
        files are upright as they are stored.
    version
        Of what is behind a URL: the one that is meant, see `partdino.images.remote.fetch`.

    Returns
    -------
    LoadedImage
        The pixels, and the size of the original in the same orientation.

    Raises
    ------
    ImageError
        The file is missing, unreadable, empty, truncated, not an image, another one than is meant,
        or larger than `partdino.images.decode.MAX_PIXELS`.
    """
    path = as_location(path)
    try:
        with _open(path, version) as stream:
            decoded = _decoded(stream, path, max_pixels, upright)
            pixels = _assemble(decoded, max_pixels)
    except ImageError:
        raise
    except Exception as error:  # decoders raise almost anything, and one bad file stops no run
        missing = missing_package(PurePath(path).suffix.lower())
        reason = f"this kind of file is not read; {missing}" if missing else _explain(error)
        raise ImageError(path, reason) from error
    orientation = decoded.orientation if upright else 1
    size = decoded.size[::-1] if orientation in (5, 6, 7, 8) else decoded.size
    return LoadedImage(np.ascontiguousarray(orient(pixels, orientation)), size)


def _decoded(stream: BinaryIO, path: Path | str, max_pixels: int | None, upright: bool) -> Decoded:
    def enough(height: int, width: int) -> tuple[int, int]:
        return _enough(height, width, max_pixels)

    return decode_raw(stream, enough, upright) if is_raw(str(path)) else decode(stream, enough)


def _open(path: Path | str, version: str | None = None) -> BinaryIO:
    if isinstance(path, Path):
        _check_file(path)
        return path.open("rb")
    try:
        content = fetch(path, version)
    except ReplacedError as error:
        raise ImageError(path, _REPLACED) from error
    except FileNotFoundError as error:
        raise ImageError(path, "no such file; check the address") from error
    except Exception as error:  # every file system has exceptions of its own
        words = " ".join(f"{error!s:.100}".split())
        reason = f"cannot be fetched ({words}); check the connection and your credentials"
        raise ImageError(path, reason) from error
    if not content:
        raise ImageError(path, _EMPTY)
    return BytesIO(content)


def _check_file(path: Path) -> None:
    status = path.stat()
    if path.is_dir():
        raise ImageError(path, "is a folder, or one that may not be listed; make it readable")
    if not path.is_file():
        raise ImageError(path, "is not a regular file; save it as an image file first")
    if status.st_size == 0:
        raise ImageError(path, _EMPTY)


def _explain(error: Exception) -> str:
    """Say what a decoder's exception means to the user."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror.lower()}; check the path and its permissions"
    if isinstance(error, UnidentifiedImageError):
        return "not an image, or its header is damaged; convert it to PNG or JPEG, or remove it"
    if isinstance(error, TooLargeError):
        return (
            f"{error}, over the limit of {MAX_PIXELS // 1_000_000} million; scale or cut it first"
        )
    if isinstance(error, MemoryError):
        return "not enough memory to decode it; scale or cut it first"
    # Pillow's own words help; those of an exception that damage provoked in passing do not.
    words = f" ({error!s:.100})".replace("\n", " ") if isinstance(error, OSError) else ""
    return f"truncated, damaged or of an unsupported kind{words}; save or copy it again"


def _fit(height: int, width: int, max_pixels: int | None) -> tuple[int, int]:
    """Return the largest size of the same aspect with at most ``max_pixels`` pixels."""
    if max_pixels is None or height * width <= max_pixels:
        return height, width
    scale = math.sqrt(max_pixels / (height * width))
    fitted = min(max(int(height * scale), 1), max_pixels)
    return fitted, min(max(int(width * scale), 1), max_pixels // fitted)


def _enough(height: int, width: int, max_pixels: int | None) -> tuple[int, int]:
    # Twice the final size on either side leaves something to average over.
    fitted = _fit(height, width, max_pixels)
    return min(2 * fitted[0], height), min(2 * fitted[1], width)


def _assemble(decoded: Decoded, max_pixels: int | None) -> np.ndarray:
    """Put the rows together at no more than ``max_pixels``; the photo's extent fills the result.

    In two steps: whole factors strip by strip, so that no full-size RGB copy is made, then the
    remaining factor (2 to 4 where strips were reduced) with exact area weights.
    """
    target = _fit(*decoded.size, max_pixels)
    (height, width), (extent_height, extent_width) = target, decoded.extent
    factor = max(1, int(min(extent_height / height, extent_width / width) / 2))
    pixels = _reduce_by_strips(decoded, factor)
    if pixels.shape[:2] == target:
        return pixels
    return cv2.resize(pixels, target[::-1], interpolation=cv2.INTER_AREA)


def _reduce_by_strips(decoded: Decoded, factor: int) -> np.ndarray:
    """Return uint8 RGB at the extent's size over ``factor``, box-averaged."""
    extent_height, extent_width = decoded.extent
    height, width = max(1, round(extent_height / factor)), max(1, round(extent_width / factor))
    step = extent_height / height
    rows_at_once = max(1, int(_STRIP_PIXELS / (decoded.width * step)))
    reduced = np.empty((height, width, 3), np.uint8)
    for first in range(0, height, rows_at_once):
        last = min(first + rows_at_once, height)
        top, bottom = first * step, min(last * step, decoded.height)
        start, stop = int(top), math.ceil(bottom)
        strip = decoded.rows(start, stop)
        if strip.shape[:2] != (last - first, width):
            box = (0, top - start, extent_width, bottom - start)
            image = Image.fromarray(np.ascontiguousarray(strip))
            strip = np.asarray(image.resize((width, last - first), Image.Resampling.BOX, box))
        reduced[first:last] = strip
    return reduced


def orient(pixels: np.ndarray, orientation: int) -> np.ndarray:
    """Undo an EXIF orientation of an (H, W, ...) array; unknown values leave it as it is."""
    turns = {
        2: lambda array: array[:, ::-1],
        3: lambda array: array[::-1, ::-1],
        4: lambda array: array[::-1],
        5: lambda array: array.swapaxes(0, 1),
        6: lambda array: np.rot90(array, -1),
        7: lambda array: np.rot90(array.swapaxes(0, 1), 2),
        8: lambda array: np.rot90(array, 1),
    }
    return turns[orientation](pixels) if orientation in turns else pixels
