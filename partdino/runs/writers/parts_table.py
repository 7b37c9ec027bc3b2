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
INSTANCE = "instance"  # after the part


class PartsTableWriter:
    """Writes where every part lies, in pixels of the original image; absent parts have no row.

    Parameters
    ----------
    out
        The run's output folder.
    naming
        What the parts are called: then there is a last column, ``name``.
    instances
        Whether results tell objects apart: then there is a column ``instance``, and a row for each
        object and part.
    """

    def __init__(self, out: Path, naming: Naming | None = None, instances: bool = False) -> None:
        self._path = out / "parts.csv"
        self._naming, self._instances = naming, instances
        self._rows = Spool(out)
        instance = (INSTANCE,) if instances else ()
        name = ("name",) if naming else ()
        self._rows.write(_csv_text([(*HEADER[:2], *instance, *HEADER[2:], *name)]))

    def add(self, result: PartSegmentation | KeptResult) -> None:
        """Append one image's rows; raises `OutputError`."""
        self._rows.write(_csv_text([self._row(result, geometry) for geometry in result.parts]))

    def close(self) -> None:
        """Write the file; raises `OutputError`."""
        with atomic_path(self._path) as temporary, temporary.open("wb") as stream:
            self._rows.move_to(stream)

    def _row(self, result: PartSegmentation | KeptResult, geometry: PartGeometry) -> tuple:
        name = (csv_safe(self._naming.names[geometry.part - 1]),) if self._naming else ()
        instance = (geometry.instance,) if self._instances else ()
        row = _row(result, geometry)
        return (*row[:2], *instance, *row[2:], *name)


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
