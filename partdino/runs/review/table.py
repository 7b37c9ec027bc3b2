"""The table of the review: a row a photo, with what was measured of its parts and the user's own.

It follows every change of the review. `partdino measure` has all measurements, in pixels or mm.
"""

from __future__ import annotations

import math
from typing import Any

from partdino.runs.measures.user_table import Joined
from partdino.runs.review.finished import IndexedRun
from partdino.runs.review.objects import ObjectCounts
from partdino.runs.review.state import Review
from partdino.runs.review.summary import PartsOfPhotos

Row = list[str | float | None]


def photo_table(
    run: IndexedRun,
    review: Review,
    measured: PartsOfPhotos,
    objects: ObjectCounts,
    told: Joined | None,
) -> dict[str, Any]:
    """Return the table, for JSON.

    Parameters
    ----------
    run, review, measured
        The photos, what is said of them, and what was measured of the parts that this leaves.
    objects
        How many objects each photo shows.
    told
        The user's own table, or None.

    Returns
    -------
    dict
        ``columns``: of each its ``name``, whether its cells are a ``number``, shown with so many
        ``digits`` after the point (None: as it is), and whether it is one of the user's ``own``;
        ``rows``: the cells of each photo, in their order, None where there is nothing. Sizes are in
        percent: of the object, or of the photo where that is said.

    Raises
    ------
    PartDinoError
        The objects of a photo cannot be counted.
    """
    columns = [_column("photo"), _column("checked"), _column("mended")]
    names = told.columns if told else ()
    told_of = [told.row(name) for name in run.names] if told else []
    own = [_numbers([cells[at] or None for cells in told_of]) for at in range(len(names))]
    for name, column in zip(names, own, strict=True):
        are_numbers = any(isinstance(cell, float) for cell in column)
        columns.append(_column(name, number=are_numbers, own=True))
    columns += [_column("objects", number=True)] * objects.there
    columns.append(_column("object, % of photo", number=True, digits=2))
    columns += [_column(f"{part.name}, %", number=True, digits=2) for part in measured.parts]
    columns.append(_column("confidence", number=True, digits=3))
    rows: list[Row] = []
    for index, name in enumerate(run.names):
        mended = "mended" if name in review.mended else None
        counted = [objects.of(review, index)] * objects.there
        told_here = (column[index] for column in own)
        measures = _sizes(measured, index)
        rows.append([name, review.photos.get(name), mended, *told_here, *counted, *measures])
    return {"columns": columns, "rows": rows}


def _column(
    name: str, number: bool = False, own: bool = False, digits: int | None = None
) -> dict[str, Any]:
    return {"name": name, "number": number, "own": own, "digits": digits}


def _sizes(measured: PartsOfPhotos, index: int) -> Row:
    """Object, parts and confidence of a photo; None where there is no object, or not the part."""
    area = measured.area[index]
    whole = float(area.sum())
    if whole == 0:
        return [0.0, *[None] * (len(area) + 1)]
    sure = float((measured.confidence[index] * area).sum() / whole)
    shares = [round(100 * float(each) / whole, 2) if each > 0 else None for each in area]
    return [round(100 * whole, 2), *shares, round(sure, 3)]


def _numbers(cells: list[str | None]) -> Row:
    """Return the cells of a column as numbers where all that hold anything are numbers."""
    try:
        numbers: Row = [float(cell) if cell else None for cell in cells]
    except ValueError:
        return [*cells]
    finite = all(math.isfinite(number) for number in numbers if isinstance(number, float))
    return numbers if finite else [*cells]
