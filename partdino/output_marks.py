"""What marks files and folders as outputs: where photos are looked for, and what may be replaced.

A file that only has the name of an output may be somebody's own. What it begins with tells.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile, ZipFile

RUN_FILE = "run.json"  # of a finished run
WORK_FOLDER = ".partdino"  # of a run that is going on, or was stopped
LABELS_FOLDER = "labels"
INSTANCES_FOLDER = "instances"  # of runs that tell objects apart
STORE_FILE = "store.json"  # of a feature store
DROPPED_FOLDER = ".partdino-dropped"  # a work folder that is being removed
_BEGINNING = 1 << 16  # bytes
REVIEW_FILE = "review.json"  # what a person said of a run
REVIEW_FOLDER = "review"  # what a review divides the label maps by


def is_output(names: Collection[str]) -> bool:
    """Return whether a folder with entries of these names is the output of a run.

    >>> is_output(["run.json", "labels", "overlays"]), is_output(["labels", "run.csv"])
    (True, False)
    """
    return WORK_FOLDER in names or (RUN_FILE in names and LABELS_FOLDER in names)


def is_output_folder(folder: str) -> bool:
    """Return whether a folder is the output of a run, without listing what else it holds."""
    marks = (WORK_FOLDER, RUN_FILE, LABELS_FOLDER)
    return is_output([name for name in marks if os.path.lexists(os.path.join(folder, name))])


@dataclass(frozen=True)
class Mark:
    """What tells a kind of output file from files of somebody else.

    Attributes
    ----------
    kind
        What such a file is called.
    is_on
        Tells whether a file is one.
    """

    kind: str
    is_on: Callable[[Path], bool]

    def may_go(self, path: Path) -> bool:
        """Tell whether a file may be replaced: it is one of these, or holds nothing."""
        return os.path.isfile(path) and (path.stat().st_size == 0 or self.is_on(path))


def _begins(kind: str, pattern: bytes) -> Mark:
    def is_on(path: Path) -> bool:
        try:
            with path.open("rb") as stream:
                return re.match(pattern, stream.read(_BEGINNING), re.DOTALL) is not None
        except OSError:
            return False

    return Mark(kind, is_on)


def _is_workbook(path: Path) -> bool:
    """Tell whether a workbook is as it was written: spreadsheets note who has saved one since."""
    try:
        with ZipFile(path) as book:
            core = book.read("docProps/core.xml")
    except (OSError, KeyError, ValueError, RuntimeError, NotImplementedError, BadZipFile):
        return False
    return WORKBOOK_CREATOR.encode() in core and b"lastModifiedBy>" not in core


REPORT_GENERATOR = "partdino report"  # <meta name="generator">
CURVE_TITLE = "partdino fit: number of parts"  # in the metadata of the plots
STUDY_TITLE = "partdino study boundary"
MEASURES_TITLE = "partdino measure: measurements by part"
WORKBOOK_CREATOR = "partdino measure"

MODEL = _begins("model", rb'.{8}\{"__metadata__":\{"partdino":')
REPORT = _begins(
    "report of partdino",
    rb'<!doctype html>.*<meta name="generator" content="%s">' % REPORT_GENERATOR.encode(),
)
CURVE = {
    ".csv": _begins("table of partdino fit", b"parts,agreement,spread,chance,score,chosen\n"),
    ".png": _begins("plot of partdino fit", b"\x89PNG.*%s" % CURVE_TITLE.encode()),
    ".svg": _begins("plot of partdino fit", rb"<\?xml .*%s" % CURVE_TITLE.encode()),
}
FAILURES = {"failures.csv": _begins("table of partdino", b"file,reason\n")}
_MEASURES = MEASURES_TITLE.encode()
_SIZES = rb"[^\n]*photo_width_px,photo_height_px,"
MEASUREMENTS = {
    "measurements.csv": _begins("table of partdino measure", b"image,part," + _SIZES),
    "photos.csv": _begins("table of partdino measure", b"image,odd," + _SIZES),
    "measurements.xlsx": Mark("workbook of partdino measure", _is_workbook),
    "measurements.png": _begins("plot of partdino measure", b"\x89PNG.*" + _MEASURES),
    "measurements.svg": _begins("plot of partdino measure", rb"<\?xml .*" + _MEASURES),
}
EVALUATION = {
    "results.json": _begins("result of partdino eval", rb'\{\s*"format": \d+,.*"benchmark": '),
    "results.csv": _begins("table of partdino eval", b"benchmark,method,parts,seed"),
    "results.md": _begins("table of partdino eval", rb"# .*\nImages: .*\n\| method \| K \|"),
}
STUDY = {
    "summary.json": _begins("summary of partdino study", rb'\{\s*"collection": .*"options": '),
    "summary.csv": _begins("table of partdino study", b"definition,temperature,straddling,"),
    "patches.csv": _begins("table of partdino study", b"image,row,column,group,true_group,"),
    "boundary.png": _begins("figure of partdino study", b"\x89PNG.*%s" % STUDY_TITLE.encode()),
    "boundary.svg": _begins("figure of partdino study", rb"<\?xml .*%s" % STUDY_TITLE.encode()),
    **FAILURES,
}
