"""Which kinds of image files are read here, and what must be installed for some of the others."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import PurePath

from PIL import features

# What Pillow recognises by the first bytes and decodes in every build.
_ALWAYS = (
    *(".jpg", ".jpeg", ".jfif", ".png", ".webp", ".bmp", ".tif", ".tiff", ".gif"),
    *(".ppm", ".pgm", ".pbm", ".pnm", ".jp2"),
)
_PILLOW_FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "DIB", "TIFF", "GIF", "PPM", "JPEG2000")
AVIF = (".avif",)
HEIF = (".heic", ".heif", ".hif")
RAW = (
    *(".3fr", ".arw", ".cr2", ".cr3", ".dng", ".erf", ".iiq", ".kdc", ".mef", ".mos", ".mrw"),
    *(".nef", ".nrw", ".orf", ".pef", ".raf", ".rw2", ".rwl", ".sr2", ".srf", ".srw", ".x3f"),
)
_EXTRA = "pip install 'partdino[formats]'"
# What lies beside photos and is none: it is counted, and no warning is due.
_OTHER = frozenset(
    (
        *(".txt", ".list", ".csv", ".tsv", ".json", ".jsonl", ".xml", ".yaml", ".yml", ".toml"),
        *(".ini", ".md", ".rst", ".html", ".htm", ".pdf", ".doc", ".docx", ".xls", ".xlsx", ".ods"),
        *(".log", ".py", ".ipynb", ".r", ".m", ".sh", ".zip", ".gz", ".tar", ".7z", ".db", ".lnk"),
        *(".url", ".aae", ".xmp", ".thm", ".npy", ".npz", ".pt", ".pth", ".safetensors", ".h5"),
        *(".parquet", ".gpx", ".kml", ".shp", ".dbf", ".shx", ".prj"),
    )
)


def pillow_formats() -> tuple[str, ...]:
    """Return the names of Pillow's formats that are read."""
    optional = (("AVIF", _reads_avif()), ("HEIF", _reads_heif()))
    return (*_PILLOW_FORMATS, *(name for name, there in optional if there))


@lru_cache
def image_suffixes() -> tuple[str, ...]:
    """Return the suffixes of all files that are read, in lower case."""
    optional = ((AVIF, _reads_avif()), (HEIF, _reads_heif()), (RAW, _reads_raw()))
    return (*_ALWAYS, *(suffix for suffixes, there in optional if there for suffix in suffixes))


def is_raw(name: str) -> bool:
    """Return whether a file is a camera's raw image: by its suffix, as it begins like a TIFF."""
    return PurePath(name).suffix.lower() in RAW


def missing_package(suffix: str) -> str | None:
    """Return how to have files of a suffix (lower case) read, or None where nothing is missing."""
    if suffix in AVIF and not _reads_avif():
        return "pip install 'pillow>=11.3'"
    if (suffix in HEIF and not _reads_heif()) or (suffix in RAW and not _reads_raw()):
        return _EXTRA
    return None


def unread_sentence(unread: Mapping[str, int]) -> str | None:
    """Say which files were passed over that may be photos.

    Parameters
    ----------
    unread
        How many files there are of each suffix (lower case) that is not read.

    Returns
    -------
    str or None
        None where there is none that may be one.

    Examples
    --------
    >>> unread_sentence({".mov": 2, ".txt": 1, "": 1})
    '3 files were passed over, which are of kinds that are not read: 2 .mov, 1 without suffix'
    """
    kinds = {suffix: count for suffix, count in unread.items() if suffix not in _OTHER}
    if not kinds:
        return None
    order = sorted(kinds, key=lambda suffix: (-kinds[suffix], not suffix, suffix))
    words = [_words(suffix, kinds[suffix]) for suffix in order]
    total = sum(kinds.values())
    what = "1 file was" if total == 1 else f"{total} files were"
    return f"{what} passed over, which are of kinds that are not read: {', '.join(words)}"


def _words(suffix: str, count: int) -> str:
    cure = missing_package(suffix)
    return f"{count} {suffix or 'without suffix'}" + (f" ({cure})" if cure else "")


@lru_cache
def _reads_avif() -> bool:
    return bool(features.check("avif"))


@lru_cache
def _reads_heif() -> bool:
    """Return whether HEIF files are read; from then on, Pillow opens them."""
    if find_spec("pillow_heif") is None:
        return False
    from pillow_heif import register_heif_opener

    register_heif_opener()
    return True


@lru_cache
def _reads_raw() -> bool:
    return find_spec("rawpy") is not None
