"""What is stored of an image: one table, from which both writing and reading follow."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from partdino.describe.description import ImageDescription

Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Column:
    """How a field of `ImageDescription` is stored.

    Attributes
    ----------
    dtype
        Of the array in memory, and in the file if not packed.
    packed
        The file holds bytes (uint8): an array in the format of ``numpy.save``, of the smallest
        integers that can hold it, compressed by zlib.
    pixels
        Needed to label pixels, but not to fit.
    """

    dtype: str
    packed: bool = False
    pixels: bool = False


COLUMNS = {
    "size": Column("int64"),
    "cells": Column("int32", packed=True, pixels=True),
    "regions": Column("int32", packed=True),
    "areas": Column("int64"),
    "features": Column("float16"),
    "contrast": Column("float32"),
    "edges": Column("int32", packed=True),
    "border_length": Column("int32", packed=True),
    "strength": Column("float16"),
    "inside": Column("bool"),
    "patches": Column("float16", pixels=True),
    "sideless": Column("float16"),
    "colours": Column("float16"),
    "border": Column("float16"),
    "hints": Column("int8"),
}
_OPTIONAL = ("inside", "patches", "sideless", "colours", "border", "hints")


def to_arrays(description: ImageDescription) -> dict[str, np.ndarray]:
    """Return the arrays that stand for a description in a file; fields that are None have none."""
    return {
        name: _packed(value) if COLUMNS[name].packed else _plain(value, COLUMNS[name].dtype)
        for name, value in vars(description).items()
        if value is not None
    }


def from_arrays(
    names: Iterable[str], get: Callable[[str], np.ndarray], pixels: bool
) -> ImageDescription:
    """Return the description that arrays stand for.

    Parameters
    ----------
    names
        The columns that there are.
    get
        Reads one of them.
    pixels
        False leaves out what only labelling needs: those fields are None.

    Raises
    ------
    ValueError
        They are none that `to_arrays` makes.
    """
    fields: dict[str, Any] = dict.fromkeys(COLUMNS)
    for name in names:
        if name not in COLUMNS:
            raise ValueError(f"a column {name}")
        column = COLUMNS[name]
        if pixels or not column.pixels:
            array = get(name)
            fields[name] = _unpacked(array, column.dtype) if column.packed else array
            if fields[name].dtype != column.dtype:
                raise ValueError(f"{name} of type {array.dtype}")
    for name in COLUMNS:
        if fields[name] is None and not (COLUMNS[name].pixels or name in _OPTIONAL):
            raise ValueError(f"no {name}")
    if fields["size"].shape != (2,) or (pixels and fields["cells"] is None):
        raise ValueError("no size or no cells")
    height, width = fields["size"].tolist()
    description = ImageDescription(**{**fields, "size": (height, width)})
    description.check()
    return description


def _plain(value: object, dtype: str) -> np.ndarray:
    # safetensors writes the memory of an array as it lies there, whatever its strides.
    return np.ascontiguousarray(value, dtype)


def _packed(array: np.ndarray) -> np.ndarray:
    content = io.BytesIO()
    np.save(
        content, array.astype(np.min_scalar_type(int(array.max(initial=0)))), allow_pickle=False
    )
    return np.frombuffer(zlib.compress(content.getvalue()), np.uint8)


def _unpacked(content: np.ndarray, dtype: str) -> np.ndarray:
    try:
        stored = np.load(io.BytesIO(zlib.decompress(content.tobytes())), allow_pickle=False)
    except (zlib.error, EOFError, OSError) as error:
        raise ValueError("an array that cannot be unpacked") from error
    if stored.dtype.kind not in "ui":
        raise ValueError(f"a packed array of type {stored.dtype}")
    return stored.astype(dtype)
