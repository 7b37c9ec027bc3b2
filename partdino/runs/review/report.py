"""`report.html`: a reviewed run as one file to read, without other files.

All of it is there without scripts, too; with them, parts are named and selected, and the table is
sorted and filtered, by modules of the review's page.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from partdino.files import atomic_path
from partdino.images.sizes import resize_image
from partdino.output_marks import REPORT_GENERATOR
from partdino.parts.sampling import evenly_spaced
from partdino.runs.folder import RunVersion
from partdino.runs.measures.user_table import Joined, join, read_user_table
from partdino.runs.reporting import Reporter
from partdino.runs.review.apply import ReviewedPart, drawn_lookup
from partdino.runs.review.finished import IndexedRun, open_run
from partdino.runs.review.methods_text import methods_paragraph, references
from partdino.runs.review.objects import ObjectCounts
from partdino.runs.review.pictures import THUMBNAIL, example_jpeg, jpeg, sized_labels
from partdino.runs.review.report_script import report_script, source_hash
from partdino.runs.review.state import Review, read_review
from partdino.runs.review.summary import PartsOfPhotos, included
from partdino.runs.review.table import photo_table
from partdino.runs.writers.sheet import counted, fit

MAX_PHOTOS = 240  # drawn, evenly spread over the run: some 20 kB each, and 100 kB enlarged
PHOTO_SIZE = 800
_QUALITY = 80
_GREY = 128

# Nothing but what is in the file, whatever its names hold: of scripts, this very one.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {}"


def write_report(
    folder: Path,
    out: Path,
    reporter: Reporter,
    metadata: Path | None = None,
    photo_size: int = PHOTO_SIZE,
) -> dict[str, Any]:
    """Write the report of an output folder.

    Parameters
    ----------
    folder
        The output folder of a finished run, with or without a review.
    out
        The file to write.
    reporter
        Where to say what happens.
    metadata
        A table of the user's, see `read_user_table`, or None.
    photo_size
        Pixels on the longer side of an enlarged photo, at most its own.

    Returns
    -------
    dict
        How many `photos`, `drawn` ones and `parts` are in it.

    Raises
    ------
    PartDinoError
        There is no finished run, its review cannot be read, or the file cannot be written.
    """
    version, run = RunVersion(folder), open_run(folder)
    run.warn_of_replaced(reporter)
    review = read_review(folder, run.model_sha256, run.num_parts)
    run.divided(review).check(run.images)
    told = join(read_user_table(metadata), list(run.names)) if metadata else None
    if told and told.unmatched:
        reporter.warn(told.unmatched)
    report = _Report(run, review, told, photo_size)
    with (
        reporter.progress("report", len(report.drawn) + len(report.parts.parts)) as advance,
        atomic_path(out) as temporary,
        # Names of photos may hold what is no UTF-8.
        temporary.open("w", encoding="utf-8", errors="backslashreplace") as stream,
    ):
        stream.writelines(report.html(advance))
        version.check()
    return {
        "report": str(out),
        "photos": len(report.shown),
        "drawn": len(report.drawn),
        "parts": len(report.parts.parts),
    }


class _Report:
    """The pieces of a report, each yielded when it is drawn: memory does not grow with them."""

    def __init__(
        self, run: IndexedRun, review: Review, told: Joined | None, photo_size: int
    ) -> None:
        self._run, self._review, self._told, self._photo_size = run, review, told, photo_size
        self.parts = PartsOfPhotos.of(run, review)
        self._included = included(run, review)
        self.shown = np.flatnonzero(self._included).tolist()
        self.drawn = evenly_spaced(self.shown, MAX_PHOTOS)

    def html(self, advance: Callable[[], None]) -> Iterator[str]:
        run = self._run
        title = escape(run.folder.resolve().name)
        style = (files(__package__) / "report.css").read_text(encoding="utf-8")
        script = report_script()
        policy = _POLICY.format(source_hash(script))
        yield (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
            f'<meta name="generator" content="{REPORT_GENERATOR}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{title}: parts</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
            f"<h1>{title}</h1>\n<p>{counted(len(self.parts.parts), 'part')} in "
            f"{counted(len(self.shown), 'photo')}</p>\n"
        )
        yield self._legend()
        yield from self._grid(advance)
        yield from self._examples(advance)
        yield self._part_table()
        table = self._table()
        yield from _photo_table(table)
        yield self._methods()
        yield '</main>\n<div id="tip" role="tooltip" hidden></div>\n'
        yield f'<script id="data" type="application/json">{self._data(table)}</script>\n'
        yield f'<script type="module">{script}</script>\n</body>\n</html>\n'

    def _legend(self) -> str:
        parts = (
            f'<li data-part="{part.part}">{_chip(part.colour)} {escape(part.name)}</li>'
            for part in self._drawn_parts
        )
        return f'<ul class="legend">{"".join(parts)}</ul>\n'

    def _grid(self, advance: Callable[[], None]) -> Iterator[str]:
        yield "<h2>Photos</h2>\n"
        if len(self.drawn) < len(self.shown):
            yield f"<p>{len(self.drawn)} of {len(self.shown)} photos shown, evenly spread</p>\n"
        yield '<div class="grid">\n'
        palette = np.zeros((256, 3), np.uint8)
        for part, colour in zip(self._drawn_parts, _distinct(self._drawn_parts), strict=True):
            palette[part.part] = list(bytes.fromhex(colour[1:]))
        places = {index: place for place, index in enumerate(self.shown)}
        for index in self.drawn:
            name = escape(self._run.images[index].name)
            size = self._run.size(index)
            small = self._pictures(index, palette, fit(size, THUMBNAIL))
            large = self._pictures(index, palette, _at_most(size, self._photo_size))
            said = self._review.photos.get(self._run.images[index].name, "")
            marks = [said] if said == "wrong" else []
            if self._run.images[index].name in self._review.mended:
                marks.append("mended")
            mark = f" <b>{', '.join(marks)}</b>" if marks else ""
            yield (
                f'<figure id="photo-{places[index]}">'
                f'<div class="photo">{_images(small, name)}</div>'
                f"<figcaption>{name}{mark}</figcaption>"
                # What a template holds is not drawn before it is asked for.
                f"<template>{_images(large, name)}</template></figure>\n"
            )
            advance()
        yield "</div>\n"

    def _examples(self, advance: Callable[[], None]) -> Iterator[str]:
        yield "<h2>Parts up close</h2>\n"
        for column, part in enumerate(self.parts.parts):
            yield f"<h3>{_chip(part.colour)} {escape(part.name)}</h3>\n"
            typical, odd = self.parts.examples(column, self._included)
            for title, ids in (("most typical", typical), ("least typical", odd)):
                if not ids:
                    continue
                yield f'<div class="examples"><span>{title}</span>'
                for index in ids:
                    example = example_jpeg(
                        self._run, self._review, index, part.members, part.colour
                    )
                    if example:
                        name = escape(f"{part.name} in {self._run.images[index].name}")
                        yield f'<img src="{_address("jpeg", example)}" alt="{name}" title="{name}">'
                yield "</div>\n"
            advance()

    def _part_table(self) -> str:
        area = self.parts.area[self._included]
        share = area / np.maximum(area.sum(axis=1, keepdims=True), 1e-12)
        confidence = self.parts.confidence[self._included]
        rows = []
        for column, part in enumerate(self.parts.parts):
            there = area[:, column] > 0
            sure = f"{confidence[there, column].mean():.2f}" if there.any() else ""
            size = f"{100 * share[there, column].mean():.1f}" if there.any() else ""
            members = ", ".join(map(str, part.members))
            rows.append((part.name, members, int(there.sum()), size, sure))
        header = (
            "part",
            "numbers",
            "photos",
            "share of the object, %",
            "mean confidence",
        )
        return f"<h2>Parts</h2>\n<table>{_header(header)}{''.join(map(_row, rows))}</table>\n"

    def _table(self) -> dict[str, Any]:
        """The table of the photos, see `photo_table`, without those that are excluded."""
        objects = ObjectCounts(self._run)
        table = photo_table(self._run, self._review, self.parts, objects, self._told)
        return {**table, "rows": [table["rows"][index] for index in self.shown]}

    def _data(self, table: dict[str, Any]) -> str:
        """What the script reads, as JSON that does not end the script in HTML."""
        marked = _distinct(self._drawn_parts)
        parts = [
            {"part": part.part, "name": part.name, "colour": part.colour, "marked": colour}
            for part, colour in zip(self._drawn_parts, marked, strict=True)
        ]
        return json.dumps({"parts": parts, "table": table}).replace("<", "\\u003c")

    def _pictures(self, index: int, palette: np.ndarray, size: tuple[int, int]) -> tuple[str, str]:
        """A photo, grey where it is gone, and its parts in their colours, as addresses."""
        run = self._run
        photo = run.photo(index, size[0] * size[1])
        if photo is None:
            photo = np.full((*size, 3), _GREY, np.uint8)
        lookup = drawn_lookup(self._review, run.num_parts)
        parts = Image.fromarray(lookup[sized_labels(run, self._review, index, size)])
        parts.putpalette(palette.tobytes())
        stream = io.BytesIO()
        parts.save(stream, "PNG", transparency=0, optimize=True)
        picture = jpeg(resize_image(photo, size), _QUALITY)
        return _address("jpeg", picture), _address("png", stream.getvalue())

    @cached_property
    def _drawn_parts(self) -> list[ReviewedPart]:
        return [part for part in self.parts.parts if not part.hidden]

    def _methods(self) -> str:
        document = self._run.document
        text = methods_paragraph(document, self._review, self._run.num_parts)
        works = "".join(f"<li>{escape(work)}</li>" for work in references(document))
        return f"<h2>Methods</h2>\n<p>{escape(text)}</p>\n<ul>{works}</ul>\n"


def _distinct(parts: Sequence[ReviewedPart]) -> list[str]:
    """Return a colour for each part that no other one has: its own, or one that looks like it.

    What is in a picture tells which part it is, as long as no two have one colour.
    """
    taken: dict[int, None] = {}
    for part in parts:
        colour = int(part.colour[1:], 16)
        while colour in taken:
            colour = (colour + 1) % 2**24
        taken[colour] = None
    return [f"#{colour:06x}" for colour in taken]


def _photo_table(table: dict[str, Any]) -> Iterator[str]:
    yield (
        '<h2>Photos, % of the object</h2>\n<section id="table">\n'
        '<p><label id="table-filter-label" hidden>Show <select id="table-filter"></select></label>'
        ' <output id="table-count"></output></p>\n<div id="table-rows"><table>'
    )
    digits = [column["digits"] for column in table["columns"]]
    yield _header(tuple(column["name"] for column in table["columns"]))
    for row in table["rows"]:
        yield _row(tuple(map(_cell, row, digits)))
    yield "</table></div>\n</section>\n"


def _cell(value: str | float | None, digits: int | None) -> str:
    if digits is None or not isinstance(value, float):
        return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
    return f"{value:.{digits}f}"


def _images(addresses: tuple[str, str], name: str) -> str:
    photo, parts = addresses
    return f'<img src="{photo}" alt="parts of {name}"><img src="{parts}" alt="">'


def _at_most(size: tuple[int, int], longer_side: int) -> tuple[int, int]:
    return size if max(size) <= longer_side else fit(size, (longer_side, longer_side))


def _chip(colour: str) -> str:
    return f'<span class="chip" style="background:{colour}"></span>'


def _address(kind: str, content: bytes) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(content).decode('ascii')}"


def _header(cells: tuple[str, ...]) -> str:
    return "<tr>" + "".join(f"<th>{escape(cell)}</th>" for cell in cells) + "</tr>\n"


def _row(cells: tuple[Any, ...]) -> str:
    return "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in cells) + "</tr>\n"
