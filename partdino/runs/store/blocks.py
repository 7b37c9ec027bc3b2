"""One file of a store: the descriptions of some consecutive images, and what says that it is whole.

The JSON file is written last: a block without it isn't there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from partdino.describe.description import ImageDescription
from partdino.describe.photos import Photo
from partdino.errors import StoreError
from partdino.files import is_safe_name, remembered_sha256, write_bytes, write_json
from partdino.images.remote import as_location
from partdino.runs.store.columns import Arrays, from_arrays


@dataclass(frozen=True, slots=True)
class StoredImage:
    """An image of a store.

    Attributes
    ----------
    name, key
        As `Photo`.
    location
        The path or URL of its photo. Text, as a `Path` takes 200 bytes more, and a store
        may hold millions.
    failure
        Why it has no description, or None.
    block
        The safetensors file that holds the description.
    position
        Its number in that file.
    digest
        The sha256 of that file, as it was when the store was opened.
    """

    name: str
    key: str
    location: str
    failure: str | None
    block: Path
    position: int
    digest: str

    @property
    def photo(self) -> Path | str:
        """Where its photo is: a path, or a URL, which is text."""
        return as_location(self.location)

    def verify(self) -> None:
        """Raise `StoreError` where the block is damaged, or another one than when it was opened."""
        verify(self.block, self.digest)

    def read(self, pixels: bool = True) -> ImageDescription:
        """Return the description, or that without what only labelling needs.

        Raises
        ------
        StoreError
            The block holds none that could be.
        """
        from safetensors import SafetensorError, safe_open

        prefix = f"{self.position}/"
        try:
            with safe_open(self.block, framework="numpy") as file:
                names = [n.removeprefix(prefix) for n in file.keys() if n.startswith(prefix)]  # noqa: SIM118
                return from_arrays(names, lambda name: file.get_tensor(prefix + name), pixels)
        except (OSError, ValueError, TypeError, AttributeError, SafetensorError) as error:
            raise damaged(self.block, f"image {self.position} has {error}") from error

    def read_arrays(self) -> dict[str, Any]:
        """Return the arrays that stand for the description."""
        from safetensors import safe_open

        prefix = f"{self.position}/"
        with safe_open(self.block, framework="numpy") as file:
            names = [name for name in file.keys() if name.startswith(prefix)]  # noqa: SIM118
            return {name.removeprefix(prefix): file.get_tensor(name) for name in names}


def block_path(folder: Path, number: int) -> Path:
    """Return where the block of that number lies in a store."""
    return folder / "blocks" / f"{number:06}.safetensors"


def index_path(block: Path) -> Path:
    """Return where the images of a block are listed."""
    return block.with_suffix(".json")


def write_block(
    path: Path,
    photos: Sequence[Photo],
    descriptions: Mapping[str, Arrays],
    failures: Mapping[str, str],
) -> None:
    """Write a block, atomically; raises `OutputError`.

    Parameters
    ----------
    path
        From `block_path`.
    photos
        In their order.
    descriptions, failures
        By key: each photo is in one of them.
    """
    from safetensors.numpy import save

    arrays, images = {}, []
    for position, photo in enumerate(photos):
        image = {"name": photo.name, "key": photo.key, "photo": str(photo.path)}
        if photo.key in failures:
            image["failure"] = failures[photo.key]
        else:
            for name, array in descriptions[photo.key].items():
                arrays[f"{position}/{name}"] = array
        images.append(image)
    content = save(arrays)
    write_bytes(path, content)
    digest = hashlib.sha256(content).hexdigest()
    write_json(index_path(path), {"sha256": digest, "bytes": len(content), "images": images})


def read_index(path: Path) -> list[StoredImage]:
    """Return the images of a block.

    Raises
    ------
    StoreError
        The block is incomplete, or its size is not what was written.
    """
    index = _index(path)
    try:
        size = path.stat().st_size
    except OSError as error:
        raise damaged(path, error.strerror) from error
    if size != index["bytes"]:
        raise damaged(path, f"it has {size} bytes instead of {index['bytes']}")
    digest = index["sha256"]
    return [_stored(image, path, place, digest) for place, image in enumerate(index["images"])]


def _stored(image: Any, block: Path, position: int, digest: str) -> StoredImage:
    try:
        name, key, photo = (image[field] for field in ("name", "key", "photo"))
        failure = image.get("failure")
        texts = (key, photo, "" if failure is None else failure)
        if not is_safe_name(name) or not all(isinstance(text, str) for text in texts):
            raise ValueError
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise damaged(index_path(block), f"image {position} is none that could be") from error
    return StoredImage(name, key, photo, failure, block, position, digest)


def verify(path: Path, digest: str) -> None:
    """Check that a block is what was written; raises `StoreError`.

    Hashed once a process, and again where the file is another one: a store may be replaced while
    it is read.
    """
    try:
        found = remembered_sha256(path)
    except OSError as error:
        raise damaged(path, error.strerror) from error
    if found != digest:
        raise damaged(path, "its sha256 is not what was written, or it was replaced meanwhile")


def _index(path: Path) -> dict[str, Any]:
    try:
        index = json.loads(index_path(path).read_bytes())
        kinds = (("images", list), ("bytes", int), ("sha256", str))
        if not all(isinstance(index[key], kind) for key, kind in kinds):
            raise ValueError
        return {key: index[key] for key in ("sha256", "bytes", "images")}
    except OSError as error:
        raise damaged(index_path(path), error.strerror) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise damaged(index_path(path), "it is not the list of a block's images") from error


def damaged(path: Path, reason: str | None) -> StoreError:
    """Return the error of a file of a block that is not as it was written."""
    return StoreError(
        f"{path} is damaged: {reason}; delete it and go on with partdino features --resume"
    )
