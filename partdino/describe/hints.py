"""Hints of people about what is object in a photo: points on it, points beside it, a box around it.

They lie in one table for all photos, separated by commas, semicolons or tabs, in UTF-8::

    file,kind,x,y,width,height
    bird.jpg,object,812,440,,
    bird.jpg,background,95,610,,
    more/bird.jpg,box,120,80,900,640

`file` is the image's name in the run. `x` and `y` are pixels of the upright photo, counted from its
upper left corner: of a point, or of the upper left corner of a box. Without boxes there need be no
columns `width` and `height`; any other columns are left out of account.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from unicodedata import normalize

import numpy as np

from partdino.errors import InputError
from partdino.files import file_version
from partdino.images.read import ImageError

OUTSIDE = -2  # of a cell: beyond the box
_COLUMNS = ("file", "kind", "x", "y")
_BOX = "box"
_SIDES = {"object": 1, "background": -1}
_SEPARATORS = ",;\t"
_SHOWN = 3  # names in a warning
_ROUNDED = 1.0  # pixels, by which a box may leave the photo


@dataclass(frozen=True)
class PhotoHints:
    """The hints of one photo.

    Attributes
    ----------
    points
        x, y and side of each point: 1 for object, -1 for background.
    box
        Left, top, right and bottom of what all of the object lies in; None: anywhere.
    """

    points: tuple[tuple[float, float, int], ...] = ()
    box: tuple[float, float, float, float] | None = None

    @property
    def version(self) -> str:
        """What other hints do not have."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:16]

    def check(self, path: Path, size: tuple[int, int]) -> None:
        """Raise `ImageError` where a hint is outside a photo of (H, W) pixels, or its own box."""
        height, width = size
        for x, y, _ in self.points:
            if not (0 <= x < width and 0 <= y < height):
                raise _outside(path, f"the point {x:g}, {y:g}", size)
        if self.box is None:
            return
        left, top, right, bottom = self.box
        box = f"the box from {left:g}, {top:g} to {right:g}, {bottom:g}"
        if min(left, top) < 0 or right > width + _ROUNDED or bottom > height + _ROUNDED:
            raise _outside(path, box, size)
        for x, y, side in self.points:
            if side > 0 and not (left <= x <= right and top <= y <= bottom):
                raise ImageError(path, f"the object's point {x:g}, {y:g} is not in {box}")

    def of_cells(self, cells: np.ndarray, size: tuple[int, int]) -> np.ndarray:
        """Tell what is known of each cell.

        Parameters
        ----------
        cells
            int (h, w), numbered 0..C-1.
        size
            (H, W) of the photo.

        Returns
        -------
        int8 (C,): 1 under points of the object, -1 under those of the background, 0 where there is
        none, or both kinds; -2 outside the box, where most of a cell is.
        """
        scale_y, scale_x = (a / b for a, b in zip(cells.shape, size, strict=True))
        count = int(cells.max()) + 1
        told = np.zeros((2, count), bool)
        for x, y, side in self.points:
            told[int(side > 0), cells[int(y * scale_y), int(x * scale_x)]] = True
        known = told[1].astype(np.int8) - told[0]
        if self.box is None:
            return known
        left, top, right, bottom = self.box
        rows, columns = (np.arange(length) + 0.5 for length in cells.shape)
        inside = np.outer(
            (rows > top * scale_y) & (rows < bottom * scale_y),
            (columns > left * scale_x) & (columns < right * scale_x),
        )
        share = np.bincount(cells.ravel(), inside.ravel(), count) / np.bincount(cells.ravel())
        return np.where(share < 0.5, np.int8(OUTSIDE), known)


def _outside(path: Path, what: str, size: tuple[int, int]) -> ImageError:
    return ImageError(
        path,
        f"{what} is outside the photo of {size[1]} x {size[0]} pixels; give pixels of the upright "
        "photo, counted from its upper left corner",
    )


def read_hints(path: Path) -> Mapping[str, PhotoHints]:
    """Read a table of hints, by image; see the module.

    Raises
    ------
    InputError
        It cannot be read, lacks a column, or a line of it makes no sense.
    """
    return _read(path, file_version(path))


def hints_of(path: Path | None, name: str) -> PhotoHints | None:
    """Return the hints of an image by its name in the run, None without any; as `read_hints`."""
    return None if path is None else read_hints(path).get(normalize("NFC", name))


def unknown_sentence(path: Path | None, names: Iterable[str]) -> str:
    """Return one line about hints of no photo, empty if there are none; as `read_hints`."""
    if path is None:
        return ""
    unknown = dict.fromkeys(read_hints(path))
    for name in names:
        unknown.pop(normalize("NFC", name), None)
    if not unknown:
        return ""
    listed = ", ".join(list(unknown)[:_SHOWN]) + ", ..." * (len(unknown) > _SHOWN)
    return f"{path} has hints for {len(unknown)} files that are none of the photos: {listed}"


@dataclass
class _Hints:
    """The hints of one photo, while they are read."""

    points: list[tuple[float, float, int]] = field(default_factory=list)
    box: tuple[float, float, float, float] | None = None


@lru_cache(maxsize=4)
def _read(path: Path, version: str) -> Mapping[str, PhotoHints]:
    # The version is part of what is remembered: a corrected table is read again.
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; check --hints") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8; save it as CSV UTF-8") from error
    separator = max(_SEPARATORS, key=(lines or [""])[0].count)
    rows = csv.DictReader(lines, delimiter=separator, skipinitialspace=True)
    header = [name.strip().lower() for name in rows.fieldnames or ()]
    if missing := [name for name in _COLUMNS if name not in header]:
        raise InputError(
            f"{path} has no column {missing[0]}; its first line must be file,kind,x,y or "
            "file,kind,x,y,width,height"
        )
    rows.fieldnames = header
    found: dict[str, _Hints] = {}
    for row in rows:
        values = {key: (value or "").strip() for key, value in row.items() if key in header}
        if any(values.values()):
            hints = found.setdefault(normalize("NFC", values["file"]), _Hints())
            _add(hints, values, f"{path}, line {rows.line_num}")
    return {name: PhotoHints(tuple(hints.points), hints.box) for name, hints in found.items()}


def _add(hints: _Hints, values: Mapping[str, str], line: str) -> None:
    kind = values["kind"].lower()
    if kind in _SIDES:
        x, y = (_number(values, name, line) for name in ("x", "y"))
        hints.points.append((x, y, _SIDES[kind]))
    elif kind == _BOX:
        left, top, width, height = (
            _number(values, name, line) for name in ("x", "y", "width", "height")
        )
        if min(width, height) <= 0:
            raise InputError(f"{line}: a box of {width:g} x {height:g} pixels; give more than 0")
        if hints.box is not None:
            raise InputError(f"{line}: a second box for {values['file']}; give one that holds all")
        hints.box = (left, top, left + width, top + height)
    else:
        raise InputError(f"{line}: kind is '{kind}'; write object, background or box")


def _number(values: Mapping[str, str], name: str, line: str) -> float:
    text = values.get(name, "")
    try:
        number = float(text)
    except ValueError:
        number = np.nan
    if not np.isfinite(number):
        raise InputError(f"{line}: {name} is '{text}'; give pixels, such as 120")
    return number
