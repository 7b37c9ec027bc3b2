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

from partdino.describe.identity import (
    code_sha256,
    describing_code_sha256,
    describing_identity,
    image_key,
)
from partdino.describe.weights.cache import cache_folder
from partdino.errors import OutputError
from partdino.evaluation.datasets import MaskSample, Sample
from partdino.files import file_version, write_json
from partdino.options import SettledOptions
from partdino.runs.store import DescriptionStore

if TYPE_CHECKING:
    from partdino.describe.features import Backbone

# Of this layer: what draws the masks that images are cut along.
_OWN_CODE = ("evaluation/datasets", "evaluation/methods")
# Their last bits may differ: descriptions that are kept for years are made anew with others.
_LIBRARIES = (
    *("numpy", "opencv-python-headless", "pillow", "pycocotools", "scikit-image", "scipy"),
    *("tifffile", "timm", "torch"),
)


def default_folder() -> Path:
    """Return where descriptions are kept unless told otherwise."""
    return cache_folder() / "evaluation"


def cache_settings(
    options: SettledOptions, backbone: Backbone, annotations: str | None
) -> dict[str, Any]:
    """Collect all that decides a description except the image.

    Parameters
    ----------
    options
        Settled ones.
    backbone
        Made from them.
    annotations
        Hash of the annotations where the images are cut along object masks, or None.
    """
    code = describing_code_sha256(options)
    values, numbers = options.values(), options.numbers.describing
    return {
        **describing_identity(values, numbers, backbone.weights.sha256, code),
        "annotations_sha256": annotations,
        "own_code_sha256": code_sha256(Path(__file__).parents[2], _OWN_CODE),
        "libraries": {name: _version(name) for name in _LIBRARIES},
    }


def sample_key(sample: Sample) -> str:
    """Name a version of a sample's image file."""
    frame = ""
    if isinstance(sample, MaskSample):
        frame = " upright" * sample.upright + " whole" * (not sample.squeezed)
    return image_key(sample.name, file_version(sample.path) + frame)


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
