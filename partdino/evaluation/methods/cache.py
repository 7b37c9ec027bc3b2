"""Descriptions of a data set's images, kept between runs: another K, seed or method is clustering.

A cache is a folder that may be deleted at any time. In it, every data set has a folder for each
combination of settings that change the values, and in that every version of an image file a name.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import partdino
from partdino.describe.weights.cache import cache_folder
from partdino.errors import OutputError
from partdino.evaluation.datasets import Sample
from partdino.files import write_json
from partdino.options import FITTING_OPTIONS, RUNNING_OPTIONS, Options
from partdino.runs.store import DescriptionStore

if TYPE_CHECKING:
    from partdino.describe.features import Backbone

_CODE = (
    "images",
    "describe",
    "runs/store",
    "evaluation/methods/sources.py",
    "evaluation/datasets/coco.py",
)
_LIBRARIES = (
    *("numpy", "opencv-python-headless", "pillow", "pycocotools", "scikit-image", "scipy"),
    *("tifffile", "timm", "torch"),
)


def default_folder() -> Path:
    """Return where descriptions are kept unless told otherwise."""
    return cache_folder() / "evaluation"


def cache_settings(options: Options, backbone: Backbone, masks: str | None) -> dict[str, Any]:
    """Collect all that decides a description except the image.

    Parameters
    ----------
    options
        With every "auto" resolved.
    backbone
        Made from them.
    masks
        Hash of the annotations where the images are cut along object masks, or None.
    """
    irrelevant = {*RUNNING_OPTIONS, *FITTING_OPTIONS}
    return {
        "options": {k: v for k, v in options.options().items() if k not in irrelevant},
        "weights_sha256": backbone.weights.sha256,
        "masks_sha256": masks,
        "code_sha256": _code_sha256(),
        "device": backbone.device.type,
        "libraries": {name: _version(name) for name in _LIBRARIES},
    }


def image_key(sample: Sample) -> str:
    """Name a version of a sample's image file."""
    status = sample.path.stat()
    return f"{sample.name}|{status.st_size}|{status.st_mtime_ns}"


def open_cache(folder: Path, title: str, settings: Mapping[str, Any]) -> DescriptionStore:
    """Return the descriptions of a data set that were made with given settings.

    Parameters
    ----------
    folder
        The cache, shared by all data sets and settings.
    title
        Name of the data set.
    settings
        From `cache_settings`.

    Raises
    ------
    OutputError
        The folder cannot be written.
    """
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
    place = folder / f"{title.replace(' ', '-')}-{digest[:16]}"
    try:
        write_json(place / "settings.json", settings)
    except OutputError as error:
        raise OutputError(f"cannot write to {place}; choose another --cache") from error
    return DescriptionStore(place)


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:  # such as OpenCV from another wheel
        return "unknown"


def _code_sha256() -> str:
    """Hash the code that makes descriptions: a changed line of it makes old ones worthless."""
    root = Path(partdino.__file__).parent
    digest = hashlib.sha256()
    for place in _CODE:
        path = root / place
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.read_bytes())
    return digest.hexdigest()
