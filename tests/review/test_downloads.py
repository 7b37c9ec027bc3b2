"""What the page gives to save: the same as the commands write."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from io import BytesIO
from pathlib import Path
from threading import Thread
from urllib.error import HTTPError
from urllib.request import HTTPCookieProcessor, OpenerDirector, Request, build_opener
from zipfile import ZipFile

import pytest
from review_runs import NAMES, SHA256, K
from segment_runs import process

pytest.importorskip("starlette")

from partdino.errors import ConfigError, ReviewError
from partdino.runs.exports.formats import NAMES as FORMATS
from partdino.runs.review import Review, changed, write_review
from partdino.runs.review.web import downloads as module
from partdino.runs.review.web.downloads import Downloads, kinds


@pytest.fixture
def folder(own_folder: Path) -> Path:
    """A run of which a part is named and a photo is excluded."""
    said = [{"part": 1, "said": {"name": "Flügel"}}, {"photo": NAMES[0], "said": "excluded"}]
    write_review(own_folder, changed(Review(SHA256), said, K, NAMES))
    return own_folder


@pytest.fixture
def downloads(folder: Path) -> Iterator[Downloads]:
    with closing(Downloads(folder)) as downloads:
        yield downloads


def written(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_all_formats_can_be_had():
    found = {each["kind"]: each["photos"] for each in kinds()}
    assert list(found) == ["report", "excel", "measurements", *FORMATS]
    assert (found["report"], found["masks"], found["hf"]) == ("never", "asked", "always")


@pytest.mark.parametrize(("kind", "photos"), [("coco", False), ("masks", True)])
def test_an_export_is_that_of_the_command(partdino, downloads, folder, tmp_path, kind, photos):
    before = written(folder)
    more = ["--with-photos"] * photos
    assert partdino("export", folder, "--format", kind, "--out", tmp_path / "e", *more).code == 0
    made = downloads.make(kind, photos)
    assert made.path.name == f"out.{kind}.zip" and made.warnings == ()
    with ZipFile(made.path) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == written(tmp_path / "e")
    assert downloads.progress == (11, 11) and written(folder) == before


def test_the_report_is_that_of_the_command(partdino, downloads, folder, tmp_path):
    assert partdino("report", folder, "--out", tmp_path / "r.html").code == 0
    made = downloads.make("report", False)
    assert made.path.name == "out.report.html"
    assert made.path.read_bytes() == (tmp_path / "r.html").read_bytes()


def test_measurements_have_the_users_table(folder: Path, tmp_path: Path):
    (tmp_path / "a.csv").write_text(f"file,sex\n{NAMES[1]},f\n")
    with closing(Downloads(folder, tmp_path / "a.csv")) as downloads:
        made = downloads.make("measurements", False)
        assert made.path.name == "out.measurements.zip"
        with ZipFile(made.path) as archive:
            assert {"measurements.csv", "photos.csv", "measurements.svg"} <= {*archive.namelist()}
            table = archive.read("photos.csv").decode().splitlines()
    assert "sex" in table[0].split(",") and len(table) == 12


def test_the_workbook_has_the_names(downloads: Downloads):
    openpyxl = pytest.importorskip("openpyxl")
    made = downloads.make("excel", False)
    assert made.path.name == "out.xlsx"
    book = openpyxl.load_workbook(BytesIO(made.path.read_bytes()), read_only=True)
    assert any("Flügel" in row for row in book["measurements"].iter_rows(values_only=True))


def test_one_file_after_another_and_none_in_the_end(folder: Path, tmp_path: Path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    downloads = Downloads(folder)
    first = downloads.make("masks", False).path
    second = downloads.make("masks", False).path
    assert not first.exists() and second.exists()
    with pytest.raises(ConfigError, match="unknown format"):
        downloads.make("../x", False)
    assert downloads.latest is None and not second.exists()
    last = downloads.make("masks", False).path
    downloads.close()
    assert not last.parent.exists() and not list(tmp_path.glob("partdino-review-*"))


def test_two_are_not_made_at_once_and_the_end_stops_one(downloads, monkeypatch):
    seen = []

    def ends(folder: Path, out: Path, reporter, metadata) -> None:
        with pytest.raises(ReviewError, match="another file is being made"):
            downloads.make("masks", False)
        with reporter.progress("report", 9) as advance:
            advance()
            seen.append(downloads.progress)
            reporter.stopped = True
            advance()

    monkeypatch.setattr(module, "write_report", ends)
    with pytest.raises(ReviewError, match="the review has ended"):
        downloads.make("report", False)
    assert seen == [(1, 9)]


def test_ctrl_c_ends_the_server_while_a_file_is_made(folder: Path):
    script = """
import time
from partdino.runs.review.web import downloads
def slow(folder, out, reporter, metadata):
    with reporter.progress("report", 9) as advance:
        for _ in range(9):
            time.sleep(0.5)
            advance()
downloads.write_report = slow
"""
    server = process("review", folder, "--no-browser", "--quiet", before=script)
    address = server.stdout.readline().strip()
    opener = build_opener(HTTPCookieProcessor())
    opener.open(address).read()
    site = address.partition("/?")[0]
    headers = {"Origin": site, "Content-Type": "application/json"}
    asked = Request(f"{site}/api/downloads", b'{"kind": "report", "photos": false}', headers)
    answers: list[HTTPError] = []
    thread = Thread(target=_refused, args=(opener, asked, answers))
    thread.start()
    while b'"total":9' not in opener.open(f"{site}/api/downloads/progress").read():
        time.sleep(0.05)
    server.send_signal(signal.SIGINT)
    _, errors = server.communicate(timeout=60)
    thread.join()
    assert (server.returncode, errors) == (0, "")
    assert [answer.code for answer in answers] == [400]


def _refused(opener: OpenerDirector, asked: Request, answers: list[HTTPError]) -> None:
    try:
        opener.open(asked)
    except HTTPError as error:
        answers.append(error)


def test_a_photo_that_is_gone_is_warned_of(downloads: Downloads, folder: Path):
    (folder.parent / "photos" / NAMES[2]).unlink()
    made = downloads.make("masks", True)
    assert len(made.warnings) == 1 and NAMES[2] in made.warnings[0]


def test_a_full_disk_is_told(downloads: Downloads, monkeypatch):
    def full(*_: object, **__: object) -> Callable:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "ZipFile", full)
    with pytest.raises(module.OutputError, match=r"No space left on device; set TMPDIR"):
        downloads.make("masks", False)


def test_names_that_are_no_utf8_are_zipped(tmp_path: Path):
    (tmp_path / "a").mkdir()
    try:
        (tmp_path / "a" / b"\xe4.png".decode("utf-8", "surrogateescape")).write_bytes(b"x")
    except (OSError, UnicodeError):
        pytest.skip("the disk has UTF-8 names only")
    path = module._zipped(tmp_path / "a", tmp_path / "a.zip")
    assert ZipFile(path).namelist() == ["\\udce4.png"] and not (tmp_path / "a").exists()
