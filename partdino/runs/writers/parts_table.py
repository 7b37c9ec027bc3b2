"""`parts.csv`: one row per image and part, for spreadsheets and statistics."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from partdino.files import atomic_path, csv_safe
from partdino.parts.naming import Naming
from partdino.parts.result import PartGeometry, PartSegmentation
from partdino.runs.writers.kept import KeptResult
from partdino.runs.writers.spool import Spool

HEADER = (
    "image",
    "part",
    "area_fraction",
    "centroid_x",
    "centroid_y",
    "box_x",
    "box_y",
    "box_width",
    "box_height",
    "mean_confidence",
)


class PartsTableWriter:
    """Writes where every part lies, in pixels of the original image; absent parts have no row.

    Parameters
    ----------
    out
        The run's output folder.
    naming
        What the parts are called: then there is a last column, ``name``.
    """

    def __init__(self, out: Path, naming: Naming | None = None) -> None:
        self._path = out / "parts.csv"
        self._naming = naming
        self._rows = Spool(out)
        self._rows.write(_csv_text([(*HEADER, "name") if naming else HEADER]))

    def add(self, result: PartSegmentation | KeptResult) -> None:
        """Append one image's rows; raises `OutputError`."""
        self._rows.write(_csv_text([self._row(result, geometry) for geometry in result.parts]))

    def close(self) -> None:
        """Write the file; raises `OutputError`."""
        with atomic_path(self._path) as temporary, temporary.open("wb") as stream:
            self._rows.move_to(stream)

    def _row(self, result: PartSegmentation | KeptResult, geometry: PartGeometry) -> tuple:
        name = (csv_safe(self._naming.names[geometry.part - 1]),) if self._naming else ()
        return (*_row(result, geometry), *name)


def _row(result: PartSegmentation | KeptResult, geometry: PartGeometry) -> tuple:
    x, y = geometry.centroid
    height, width = result.size
    return (
        csv_safe(result.name),
        geometry.part,
        f"{geometry.area / (height * width):.6g}",
        f"{x:.2f}",
        f"{y:.2f}",
        *geometry.box,
        f"{result.confidence[geometry.part - 1]:.4f}",
    )


def _csv_text(rows: list[tuple]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
