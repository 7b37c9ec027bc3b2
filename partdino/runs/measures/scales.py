"""How many pixels a millimetre has: the same in all photos, or read from a table."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

from partdino.errors import ConfigError, InputError
from partdino.runs.measures.user_table import join, read_user_table

_PER_MM = {"mm": 1.0, "cm": 0.1, "um": 1000.0, "µm": 1000.0, "μm": 1000.0}
_SCALE = re.compile(r"\s*([0-9]+(?:[.,][0-9]+)?)\s*px\s*/\s*(mm|cm|um|µm|μm)\s*")
_COLUMNS = ("px_per_mm", "scale")


def parse_scale(text: str) -> float | None:
    """Return pixels a millimetre; None where the text is no scale above 0.

    >>> parse_scale("12.5px/mm"), parse_scale("120 px/cm"), parse_scale("scales.csv")
    (12.5, 12.0, None)
    """
    if (match := _SCALE.fullmatch(text)) is None:
        return None
    scale = float(match[1].replace(",", ".")) * _PER_MM[match[2]]
    return scale if 0 < scale < math.inf else None


class Scales:
    """The scale of each photo.

    Parameters
    ----------
    given
        A scale such as "12.5px/mm", or a table with the names of the files and a column px_per_mm
        of numbers, or scale of scales.
    names
        Of all images of the run.

    Attributes
    ----------
    unmatched
        As of `partdino.runs.measures.user_table.Joined`.

    Raises
    ------
    ConfigError
        It is neither a scale nor a file.
    InputError
        The table cannot be read, or has a scale that is none.
    """

    def __init__(self, given: str, names: Sequence[str]) -> None:
        self._same = parse_scale(given)
        self._each: dict[str, float] = {}
        self.unmatched = ""
        if self._same is None:
            self._read(Path(given), names)

    def of(self, name: str) -> float | None:
        """Return how many pixels a millimetre has in a photo; None where that is not known."""
        return self._same or self._each.get(name)

    def _read(self, path: Path, names: Sequence[str]) -> None:
        if not path.is_file():
            raise ConfigError(
                f"--scale {path} is neither a scale such as 12.5px/mm nor a CSV file of scales"
            )
        joined = join(read_user_table(path), names)
        column = next((c for c in _COLUMNS if c in joined.columns), None)
        if column is None:
            raise InputError(f"{path} has no column px_per_mm, nor scale; name one so")
        at = joined.columns.index(column)
        for name, row in joined.rows.items():
            text = row[at]
            scale = parse_scale(text) or parse_scale(f"{text}px/mm")
            if scale is None and text:
                raise InputError(f"{path}: {text!r} of {name} is no scale; write 12.5 or 12.5px/mm")
            if scale is not None:
                self._each[name] = scale
        self.unmatched = joined.unmatched
