"""What the page gives to save: exports, measurements and the report, as the commands make them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir, mkdtemp
from threading import Lock
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from partdino.errors import OutputError, ReviewError
from partdino.runs.exports.export import export
from partdino.runs.exports.formats import NAMES, find_format
from partdino.runs.measures.run import measure
from partdino.runs.review.report import write_report

_QUICK = 1  # of zlib: photos and masks are compressed already, and text is by anything


@dataclass(frozen=True)
class Download:
    """A file to save, and what was warned of while it was made."""

    path: Path
    warnings: tuple[str, ...]


class Downloads:
    """Makes one file after another, in temporary folders: the run is only read.

    Parameters
    ----------
    folder
        The output folder of the run.
    metadata
        The user's own table of the photos, or None.
    """

    def __init__(self, folder: Path, metadata: Path | None = None) -> None:
        self._folder, self._metadata = folder, metadata
        self._title = folder.resolve().name
        self._lock = Lock()
        self._told = _Told()
        self.latest: Download | None = None

    @property
    def progress(self) -> tuple[int, int]:
        """How many photos are done for what is being made, and of how many."""
        return self._told.done, self._told.total

    def make(self, kind: str, with_photos: bool) -> Download:
        """Make a file, with all that is said in the review by now; the one before is gone then.

        Parameters
        ----------
        kind
            One of `kinds`.
        with_photos
            Whether an export has copies of the photos.

        Raises
        ------
        ReviewError
            Another one is being made.
        PartDinoError
            There is no such kind, or it cannot be made.
        """
        if not self._lock.acquire(blocking=False):
            raise ReviewError("another file is being made; wait for its end")
        try:
            self._drop()
            self._told = _Told()
            with _temporary() as place:
                path = self._make(kind, with_photos, place)
            self.latest = Download(path, tuple(self._told.warnings))
            return self.latest
        except OSError as error:
            where = gettempdir()
            raise OutputError(f"{where}: {error.strerror}; set TMPDIR to another disk") from error
        finally:
            self._lock.release()

    def _make(self, kind: str, with_photos: bool, place: Path) -> Path:
        if kind == "report":
            report = place / f"{self._title}.report.html"
            write_report(self._folder, report, self._told, self._metadata)
            return report
        made = place / kind
        if kind in ("excel", "measurements"):
            excel = kind == "excel"
            measure(self._folder, made, self._told, metadata=self._metadata, excel=excel)
            if excel:
                return (made / "measurements.xlsx").rename(place / f"{self._title}.xlsx")
        else:
            export(self._folder, kind, made, self._told, with_photos=with_photos)
        return _zipped(made, place / f"{self._title}.{kind}.zip")

    def close(self) -> None:
        """Stop what is being made, and remove the file."""
        self.stop()
        with self._lock:
            self._drop()

    def stop(self) -> None:
        """Stop what is being made, after the photo that it is at."""
        self._told.stopped = True

    def _drop(self) -> None:
        if self.latest:
            rmtree(self.latest.path.parent)
        self.latest = None


@contextmanager
def _temporary() -> Iterator[Path]:
    """Yield a new folder, which is gone where the block fails."""
    place = Path(mkdtemp(prefix="partdino-review-"))
    try:
        yield place
    except BaseException:
        rmtree(place)
        raise


def kinds() -> list[dict[str, Any]]:
    """Return what can be saved, for JSON.

    Returns
    -------
    list of dict
        Of each its ``kind``, what it is in words, ``help``, and whether it has copies of the
        ``photos``: "never", "always", or "asked".
    """
    found = [
        _kind("report", "Report: photos, parts, tables and methods in one HTML file"),
        _kind("excel", "Measurements: Excel workbook"),
        _kind("measurements", "Measurements: CSV tables and a figure"),
    ]
    for name in NAMES:
        exporter = find_format(name)
        found.append(_kind(name, exporter.help, "always" if exporter.needs_photos else "asked"))
    return found


def _kind(kind: str, help: str, photos: str = "never") -> dict[str, Any]:
    return {"kind": kind, "help": help, "photos": photos}


def _zipped(folder: Path, path: Path) -> Path:
    """Zip the files of a folder, which is gone then."""
    with ZipFile(path, "w", ZIP_DEFLATED, compresslevel=_QUICK, strict_timestamps=False) as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                # Names of photos may hold what is no UTF-8.
                name = str(file.relative_to(folder)).encode("utf-8", "backslashreplace")
                archive.write(file, name.decode("utf-8"))
    rmtree(folder)
    return path


@dataclass
class _Told:
    """A `Reporter` that keeps what it is told."""

    done: int = 0
    total: int = 0
    stopped: bool = False
    warnings: list[str] = field(default_factory=list)

    def say(self, message: str) -> None:
        pass

    def warn(self, message: str) -> None:
        self.warnings.append(message)

    @contextmanager
    def progress(self, title: str, total: int) -> Iterator[Callable[..., None]]:
        self.done, self.total = 0, total

        def advance(seconds: object = None) -> None:
            self.done += 1
            if self.stopped:
                raise ReviewError("the review has ended")

        yield advance
