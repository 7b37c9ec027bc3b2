"""What a description depends on: the one answer to "is this the same?".

A description is that of another image where its photo, mask or hints are another version
(`image_key`), and it is made otherwise where anything of `describing_identity` differs. Stores,
runs, the evaluation's cache and the study compare these and nothing else, so that corrected masks,
replaced photos, other numbers and changed code never meet old descriptions.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from partdino import plugins
from partdino.describe.hints import hints_of
from partdino.files import file_version
from partdino.images.masks import find_mask
from partdino.images.remote import as_location
from partdino.options import FITTING_OPTIONS, RUNNING_OPTIONS, SettledOptions

# What computes a description: all code of these packages.
_CODE = ("images", "describe")
_ROOT = Path(__file__).parents[1]
_MASK, _HINTS = " mask ", " hints "  # in a key
_FILE_VERSION = re.compile(r"\d+ \d+")  # of `file_version`


def image_key(name: str, version: str, masks: Path | None = None, hints: Path | None = None) -> str:
    """Name a version of an image, of its mask and of its hints.

    Parameters
    ----------
    name
        Of the image: unique where the key is used.
    version
        Of the photo, see `partdino.files.file_version`, or of what is behind a URL.
    masks
        The folder of masks, if they are given; see `partdino.images.masks.read_mask`.
    hints
        The table of hints, if there is one; see `partdino.describe.hints.read_hints`.
    """
    key = f"{name} {version}"
    if masks is not None:
        mask = find_mask(masks, name)
        key += f"{_MASK}{'missing' if mask is None else file_version(mask)}"
    if (hinted := hints_of(hints, name)) is not None:
        key += f"{_HINTS}{hinted.version}"
    return key


def version_of(name: str, key: str | None) -> str:
    """Return the version of the photo that a key names, see `image_key`; empty where none is."""
    version = (key or "").removeprefix(f"{name} ")
    for given in (_MASK, _HINTS):
        version = version.partition(given)[0]
    return version


def is_replaced(name: str, key: str | None, photo: Path | str) -> bool:
    """Tell whether a photo is another version than the one that was described.

    Parameters
    ----------
    name, key
        Of the image, see `image_key`; a key of None, or without a version, tells nothing.
    photo
        Its path or URL. What is behind a URL is not asked again, and what is missing is not
        replaced.
    """
    location, version = as_location(photo), version_of(name, key)
    if isinstance(location, str) or not _FILE_VERSION.fullmatch(version):
        return False
    return file_version(location) not in (version, "missing")


def describing_identity(
    options: Mapping[str, Any],
    numbers: Mapping[str, Any],
    weights_sha256: str,
    code_sha256: str,
) -> dict[str, Any]:
    """Collect all that decides a description except the image.

    Parameters
    ----------
    options
        Values of the settled options by name; of those that only fitting or running asks for, the
        device and the precision count, since the last digits of networks differ from one kind to
        another.
    numbers
        `Method.describing`.
    weights_sha256
        Of the backbone.
    code_sha256
        See `describing_code_sha256`.

    Returns
    -------
    dict
        Values that JSON can hold, the same in every process.
    """
    apart = {*RUNNING_OPTIONS, *FITTING_OPTIONS}
    return {
        "code_sha256": code_sha256,
        "weights_sha256": weights_sha256,
        **{name: value for name, value in options.items() if name not in apart},
        "masks": options["masks"] is not None,
        "device": options["device"].partition(":")[0],
        "precision": options["precision"],
        **{f"numbers.{name}": value for name, value in numbers.items()},
    }


def describing_code_sha256(options: SettledOptions) -> str:
    """Hash the code that makes descriptions: a changed line of it makes old ones worthless.

    With that of a plugin that finds boundaries or regions; that of features is what the identity of
    the backbone's weights stands for.
    """
    own = _own_code_sha256()
    names: dict[plugins.Stage, str] = {
        "boundaries": options.boundaries,
        "regions": options.regions,
    }
    others = [plugins.identity(s, n) for s, n in names.items() if plugins.is_plugin(s, n)]
    return hashlib.sha256("".join([own, *others]).encode()).hexdigest() if others else own


@cache
def _own_code_sha256() -> str:
    return code_sha256(_ROOT, _CODE)


def code_sha256(root: Path, packages: tuple[str, ...]) -> str:
    """Hash the names and the bytes of all modules of some packages below a folder."""
    digest = hashlib.sha256()
    for package in packages:
        for file in sorted((root / package).rglob("*.py")):
            digest.update(f"{file.relative_to(root).as_posix()}\n".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()
