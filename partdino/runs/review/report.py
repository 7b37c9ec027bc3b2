"""`report.html`: a reviewed run as one file to read, without scripts and without other files."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from partdino.files import atomic_path
from partdino.images.sizes import resize_image
from partdino.output_marks import REPORT_GENERATOR
from partdino.parts.sampling import evenly_spaced
from partdino.runs.folder import RunVersion
from partdino.runs.reporting import Reporter
from partdino.runs.review.apply import drawn_colours, drawn_lookup
from partdino.runs.review.finished import FinishedRun, open_run
from partdino.runs.review.methods_text import methods_paragraph, references
from partdino.runs.review.objects import ObjectCounts
from partdino.runs.review.pictures import THUMBNAIL, example_jpeg, jpeg, sized_labels
from partdino.runs.review.state import Review, read_review
from partdino.runs.review.summary import PartsOfPhotos, included
from partdino.runs.writers.drawing import draw_parts
from partdino.runs.writers.sheet import counted, fit

MAX_PHOTOS = 240  # drawn, evenly spread over the run: some 20 kB each
_QUALITY = 80
_GREY = 128

# Nothing but what is in the file, whatever its names hold.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def write_report(folder: Path, out: Path, reporter: Reporter) -> dict[str, Any]:
    """Write the report of an output folder.

    Parameters
    ----------
    folder
        The output folder of a finished run, with or without a review.
    out
        The file to write.
    reporter
        Where to say what happens.

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
    report = _Report(run, review)
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

    def __init__(self, run: FinishedRun, review: Review) -> None:
        self._run, self._review = run, review
        self.parts = PartsOfPhotos.of(run, review)
        self._included = included(run, review)
        self._objects = ObjectCounts(run)
        self.shown = np.flatnonzero(self._included).tolist()
        self.drawn = evenly_spaced(self.shown, MAX_PHOTOS)

    def html(self, advance: Callable[[], None]) -> Iterator[str]:
        run = self._run
        title = escape(run.folder.resolve().name)
        style = (files(__package__) / "report.css").read_text(encoding="utf-8")
        yield (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
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
        yield from self._photo_table()
        yield self._methods()
        yield "</main>\n</body>\n</html>\n"

    def _legend(self) -> str:
        parts = (
            f"<li>{_chip(part.colour)} {escape(part.name)}</li>"
            for part in self.parts.parts
            if not part.hidden
        )
        return f'<ul class="legend">{"".join(parts)}</ul>\n'

    def _grid(self, advance: Callable[[], None]) -> Iterator[str]:
        yield "<h2>Photos</h2>\n"
        if len(self.drawn) < len(self.shown):
            yield f"<p>{len(self.drawn)} of {len(self.shown)} photos shown, evenly spread</p>\n"
        yield '<div class="grid">\n'
        colours = drawn_colours(self._review, self._run.num_parts)
        lookup = drawn_lookup(self._review, self._run.num_parts)
        for index in self.drawn:
            name = escape(self._run.images[index].name)
            overlay = _overlay(self._run, self._review, index, lookup, colours)
            picture = _data(jpeg(overlay, _QUALITY))
            said = self._review.photos.get(self._run.images[index].name, "")
            marks = [said] if said == "wrong" else []
            if self._run.images[index].name in self._review.mended:
                marks.append("mended")
            mark = f" <b>{', '.join(marks)}</b>" if marks else ""
            yield (
                f'<figure><img src="{picture}" alt="parts of {name}">'
                f"<figcaption>{name}{mark}</figcaption></figure>\n"
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
                        yield f'<img src="{_data(example)}" alt="{name}" title="{name}">'
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

    def _photo_table(self) -> Iterator[str]:
        mended = ["mended"] if self._review.mended else []  # a column only where there is any
        yield "<h2>Area of each part, % of the photo</h2>\n<table>"
        names = [part.name for part in self.parts.parts]
        objects = ["objects"] * self._objects.there
        yield _header(("photo", *objects, *names, "checked", *mended))
        for index in self.shown:
            name = self._run.images[index].name
            shares = (f"{100 * area:.2f}" if area else "" for area in self.parts.area[index])
            by_hand = ["yes" if name in self._review.mended else ""] if mended else []
            counted = [self._objects.of(self._review, index)] * self._objects.there
            yield _row((name, *counted, *shares, self._review.photos.get(name, ""), *by_hand))
        yield "</table>\n"

    def _methods(self) -> str:
        document = self._run.document
        text = methods_paragraph(document, self._review, self._run.num_parts)
        works = "".join(f"<li>{escape(work)}</li>" for work in references(document))
        return f"<h2>Methods</h2>\n<p>{escape(text)}</p>\n<ul>{works}</ul>\n"


def _overlay(
    run: FinishedRun, review: Review, index: int, lookup: np.ndarray, colours: np.ndarray
) -> np.ndarray:
    size = fit(run.size(index), THUMBNAIL)
    photo = run.photo(index, size[0] * size[1])
    if photo is None:
        photo = np.full((*size, 3), _GREY, np.uint8)
    return draw_parts(
        resize_image(photo, size), lookup[sized_labels(run, review, index, size)], colours
    )


def _chip(colour: str) -> str:
    return f'<span class="chip" style="background:{colour}"></span>'


def _data(content: bytes) -> str:
    return f"data:image/jpeg;base64,{base64.b64encode(content).decode('ascii')}"


def _header(cells: tuple[str, ...]) -> str:
    return "<tr>" + "".join(f"<th>{escape(cell)}</th>" for cell in cells) + "</tr>\n"


def _row(cells: tuple[Any, ...]) -> str:
    return "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in cells) + "</tr>\n"
