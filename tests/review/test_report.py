"""`report.html`: all of a reviewed run in one file."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from review_runs import NAMES, RUN, SHA256, write_run

from partdino.runs.review import PartReview, Review, write_review
from partdino.runs.review import report as reports
from partdino.runs.review.methods_text import methods_paragraph, references

REVIEW = Review(
    SHA256,
    4,
    {
        1: PartReview(name="<script>alert(1)</script> & wing"),
        2: PartReview(merged_into=1),
        3: PartReview(background=True),
    },
    {NAMES[0]: "wrong", NAMES[1]: "excluded", NAMES[4]: "fine"},
)


class Page(HTMLParser):
    """Tags, addresses and text of a page, and the rows of its tables."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.rows: list[list[str]] = []
        self.text = self.policy = ""
        self.scripts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list) -> None:
        self.tags.append(tag)
        self.addresses += [value for key, value in attributes if key in ("src", "href")]
        if ("http-equiv", "Content-Security-Policy") in attributes:
            self.policy = dict(attributes)["content"]
        if tag == "script":
            self.scripts.append("")
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.scripts and not self.scripts[-1]:
            self.scripts[-1] = data
            return
        self.text += data
        if self.rows and self.rows[-1] and data.strip():
            self.rows[-1][-1] += data.strip()


@pytest.fixture
def written(partdino: Callable, own_folder: Path) -> Page:
    """The report of a reviewed run."""
    write_review(own_folder, REVIEW)
    out = own_folder.parent / "report.html"
    finished = partdino("report", own_folder, "--out", out, "--quiet")
    assert (finished.code, finished.stdout, finished.stderr) == (0, "", "")
    return Page(out.read_text(encoding="utf-8"))


def test_it_needs_nothing_else_and_runs_one_script(written: Page):
    assert not {"link", "iframe", "object", "form"} & set(written.tags)
    kinds = {address.partition(",")[0] for address in written.addresses}
    assert kinds == {"data:image/jpeg;base64", "data:image/png;base64"}
    data, script = written.scripts
    assert json.loads(data)["parts"][0]["name"] == "<script>alert(1)</script> & wing"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in written.policy
    assert not re.search(r"\b(import|fetch|eval)\b", script) and "<" + "/script" not in script


def test_it_shows_photos_and_examples(written: Page):
    # 11 photos that are not excluded; 10 of them have each part, but for one without part 4.
    assert written.tags.count("figure") == 11
    assert written.tags.count("img") == 2 * 2 * 11 + 10 + 9  # each photo enlarged, too
    assert "2 parts in 11 photos" in written.text


def test_names_are_text(written: Page):
    assert "<script>alert(1)</script> & wing" in written.text


def test_tables_hold_the_reviewed_parts(written: Page):
    name = "<script>alert(1)</script> & wing"
    header, wing, other = written.rows[:3]
    assert header[0] == "part"
    assert wing[:4] == [name, "1, 2", "10", "70.0"]  # of the object: 9 times 2/3, once all
    assert other[:3] == ["part 4", "4", "9"]
    photos = written.rows[3:]
    sizes = ["object, % of photo", f"{name}, %", "part 4, %"]
    assert photos[0] == ["photo", "checked", "mended", *sizes, "confidence"]
    assert photos[1] == [NAMES[0], "wrong", "", "33.33", "66.67", "33.33", "0.500"]
    assert [row[0] for row in photos[1:]] == [n for n in NAMES if n != NAMES[1]]


def test_methods_say_what_the_run_says():
    text = methods_paragraph(RUN, REVIEW, 4)
    assert text == (
        "The objects were divided into 4 parts (a number chosen by the method, asked for 4-12) by "
        "Part-DINO (version 0.2.0, PyTorch 2.14.1, random seed 3), without labels or training. "
        "Features of the network efficientnet-lite2 (weights with SHA-256 abababababab…) at an "
        "area of 672² pixels were averaged in image regions (watershed along the boundary map hed, "
        "at 448² pixels) and clustered over the whole collection. The object was separated from "
        "the background without labels. Parts that mirror each other were kept together. Of 13 "
        "photos, 12 were labelled; 1 could not be read. Parts 1 and 2 were merged by hand into "
        "“<script>alert(1)</script> & wing”. Part 3 was called background by hand. A person "
        "checked 3 photos, found 1 wrong and excluded 1. The names of the parts were given by a "
        "person."
    )
    assert [work[:9] for work in references(RUN)] == ["Tan & Le ", "Xie & Tu "]


def test_methods_leave_out_what_is_not_said():
    text = methods_paragraph({"version": "0.1.0"}, Review(""), 6)
    assert text == (
        "The objects were divided into 6 parts by Part-DINO (version 0.1.0), without labels or "
        "training."
    )
    assert references({}) == []


@pytest.mark.parametrize(
    ("backbone", "work"), [("dinov2-s14", "Oquab"), ("vit_dinov3", "Siméoni"), ("dino-s8", "Caron")]
)
def test_the_network_has_its_reference(backbone: str, work: str):
    assert references({"weights": {"backbone": backbone}})[0].startswith(work)


def test_a_file_that_is_there_is_kept(partdino: Callable, run_folder: Path, tmp_path: Path):
    out = tmp_path / "report.html"
    out.write_text("mine")
    finished = partdino("report", run_folder, "--out", out)
    assert finished.code == 2 and "--overwrite" in finished.stderr and out.read_text() == "mine"
    out.unlink()
    assert partdino("report", run_folder, "--out", out).code == 0
    first = out.read_bytes()
    out.write_bytes(first.replace(b"finch", b"robin"))
    finished = partdino("report", run_folder, "--out", out, "--overwrite", "--json")
    assert finished.code == 0 and '"photos": 12' in finished.stdout
    assert out.read_bytes() == first


@pytest.mark.parametrize(
    "name",
    ["run.json", "results.jsonl", "parts.csv", "labels/finch/00.jpg.png", "../photos/wren/01.jpg"],
)
@pytest.mark.parametrize("kind", ["file", "link", "hard link"])
def test_only_a_report_is_replaced(partdino, own_folder: Path, tmp_path: Path, name, kind):
    lost = own_folder / name
    out = lost if kind == "file" else tmp_path / "report.html"
    if kind == "link":
        out.symlink_to(lost)
    elif kind == "hard link":
        out.hardlink_to(lost)
    before = lost.read_bytes()
    finished = partdino("report", own_folder, "--out", out, "--overwrite")
    assert finished.code == 2 and finished.stderr.count("\n") == 1
    assert f"{out} is no report of partdino, so it is not replaced" in finished.stderr
    assert out.read_bytes() == lost.read_bytes() == before


def test_a_page_of_somebody_else_is_no_report(partdino, run_folder: Path, tmp_path: Path):
    out = tmp_path / "report.html"
    out.write_text('<!doctype html><meta name="generator" content="mkdocs">partdino report')
    before = out.read_bytes()
    finished = partdino("report", run_folder, "--out", out, "--overwrite")
    assert finished.code == 2 and out.read_bytes() == before
    out.unlink()
    out.symlink_to(tmp_path / "nowhere")
    assert partdino("report", run_folder, "--out", out).code == 2 and out.is_symlink()


def test_many_photos_are_shown_evenly(tmp_path: Path, partdino: Callable, monkeypatch):
    monkeypatch.setattr(reports, "MAX_PHOTOS", 4)
    out = tmp_path / "report.html"
    names = [f"{number}.jpg" for number in range(9)]
    folder = write_run(tmp_path, names)
    (tmp_path / "photos" / "0.jpg").unlink()  # drawn on grey
    assert partdino("report", folder, "--out", out).code == 0
    text = out.read_text(encoding="utf-8")
    assert "4 of 9 photos shown" in text
    shown = re.findall(r"<figcaption>(.*?)</figcaption>", text)
    assert shown == [
        "0.jpg",
        "2.jpg",
        "4.jpg",
        "6.jpg",
    ]


@pytest.mark.parametrize("field", ["weights", "options", "parts", "counts"])
@pytest.mark.parametrize("value", [3, [], "x", None, {"regions": {}, "backbone": []}])
def test_a_damaged_run_is_one_line(partdino, own_folder: Path, tmp_path: Path, field, value):
    document = json.loads((own_folder / "run.json").read_text())
    (own_folder / "run.json").write_text(json.dumps({**document, field: value}))
    finished = partdino("report", own_folder, "--out", tmp_path / "x.html")
    assert finished.code == 2 and finished.stderr.count("\n") == 1
    assert "run.json is damaged" in finished.stderr
    (own_folder / "run.json").write_text(json.dumps({**document, "counts": {"labelled": 3}}))
    assert partdino("report", own_folder, "--out", tmp_path / "x.html").code == 0


def test_a_list_of_results_without_a_model_is_read(partdino, own_folder: Path, tmp_path: Path):
    results = own_folder / "results.jsonl"
    head, rest = results.read_text().split("\n", 1)
    head = json.dumps({**json.loads(head), "model_sha256": 3})
    results.write_text(f"{head.replace('model_sha256', 'other')}\n{rest}")
    assert partdino("report", own_folder, "--out", tmp_path / "x.html").code == 0


def test_what_is_no_run_is_one_line(partdino: Callable, tmp_path: Path):
    for command in (("report", tmp_path, "--out", tmp_path / "x.html"), ("review", tmp_path)):
        finished = partdino(*command)
        assert finished.code == 2 and finished.stderr.count("\n") == 1
        assert "holds no finished run" in finished.stderr
