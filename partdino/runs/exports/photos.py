"""Copies of the photos that every tool shows as their label maps have them."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any

from PIL import Image

from partdino.errors import InputError
from partdino.files import atomic_path
from partdino.images import read_image
from partdino.images.decode import open_image
from partdino.images.remote import as_location, fetch
from partdino.runs.exports.finished import ExportImage

# How copies are saved that cannot be copied as they are, by suffix.
_JPEG = ("JPEG", {"quality": 95, "subsampling": 0})
_TIFF = ("TIFF", {"compression": "tiff_deflate"})
_SAVING: dict[str, tuple[str, dict[str, Any]]] = {
    **dict.fromkeys((".jpg", ".jpeg"), _JPEG),
    **dict.fromkeys((".tif", ".tiff"), _TIFF),
    ".png": ("PNG", {"compress_level": 1}),
    ".webp": ("WEBP", {"quality": 95}),
    ".bmp": ("BMP", {}),
}
_OTHER = ".jpg"  # of kinds that few tools read: HEIC, raw files, JPEG 2000, ...
_PLAIN_FORMATS = ("JPEG", "PNG", "TIFF", "WEBP", "BMP")
_PLAIN_MODES = ("1", "L", "LA", "P", "RGB", "RGBA")
_ORIENTATION = 0x0112
_TURNED = range(2, 9)  # the EXIF orientations that mean something


def copy_suffix(name: str) -> str:
    """Return the suffix that the copy of a photo of this name has: its own, or ``.jpg``.

    >>> copy_suffix("a/bird.PNG"), copy_suffix("a/bird.HEIC")
    ('.PNG', '.jpg')
    """
    suffix = PurePosixPath(name).suffix
    return suffix if suffix.lower() in _SAVING else _OTHER


def copy_upright(image: ExportImage, target: Path) -> None:
    """Copy a photo, turned as its EXIF orientation says, which many tools ignore.

    What every tool shows as Part-DINO does is copied byte for byte. All else (turned, CMYK, 16 bits
    a channel, HEIC, raw files) is saved anew as 8-bit RGB without metadata; JPEG at quality 95.

    Parameters
    ----------
    image
        Of which the photo is copied.
    target
        The file to write; its suffix is that of `copy_suffix`.

    Raises
    ------
    InputError
        The photo cannot be read (any more), or is another one than the run had.
    OutputError
        The copy cannot be written.
    """
    image.check_version()
    content = _content(image.photo_path)
    size = _plain_size(content)
    if size is not None:
        image.check_size(size)
        with atomic_path(target) as temporary:
            temporary.write_bytes(content)
        return
    photo = Image.fromarray(image.read_photo())
    kind, how = _SAVING[target.suffix.lower()]
    with atomic_path(target) as temporary:
        photo.save(temporary, kind, **how)


def _content(photo: str) -> bytes:
    location = as_location(photo)
    try:
        return location.read_bytes() if isinstance(location, Path) else fetch(location)
    except Exception:  # every file system has exceptions of its own
        read_image(photo)  # says what is wrong
        raise InputError(f"{photo} cannot be copied; check the connection and try again") from None


def _plain_size(content: bytes) -> tuple[int, int] | None:
    """Return (H, W) of a photo that every tool shows as Part-DINO does; None for all others."""
    try:
        with open_image(BytesIO(content)) as image:
            turned = image.getexif().get(_ORIENTATION, 1) in _TURNED
            plain = image.format in _PLAIN_FORMATS and image.mode in _PLAIN_MODES
            deep = image.format == "PNG" and content[24] == 16  # bits a channel
            return (image.height, image.width) if plain and not turned and not deep else None
    except Exception:  # whatever damaged EXIF data provokes
        return None
