"""A biologist's task on real photos, as one would do it: from six numbers to a report."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest
from review_page import ORDER, Served, needs_browser, revision, sync_api
from segment_runs import SMALL, flags

pytestmark = needs_browser

ROOT = Path(__file__).parents[2]
BIRDS = ROOT / "data" / "samples" / "birds"
DATA = Path(os.environ.get("PARTDINO_BENCH_DATA", ROOT.parent / "shared" / "data"))
PARTS = 6
NAMES = ["head", "wing", "breast", "tail", "legs", "twig"]


def twenty_birds(folder: Path) -> tuple[Path, dict]:
    return BIRDS, {**SMALL, "parts": PARTS}


def thirty_butterflies(folder: Path) -> tuple[Path, dict]:
    """As a user has them: with the options that segment has by itself."""
    photos = sorted((DATA / "butterflies" / "images").glob("*.jpg"))[:30]
    if not photos:
        pytest.skip(f"{DATA / 'butterflies'} is not there; set PARTDINO_BENCH_DATA")
    for photo in photos:
        (folder / photo.name).symlink_to(photo.resolve())
    return folder, {"parts": PARTS, "backbone": "efficientnet-lite2"}


@pytest.fixture(
    scope="module", params=[twenty_birds, pytest.param(thirty_butterflies, marks=pytest.mark.bench)]
)
def segmented(request, partdino: Callable, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run over real photos."""
    photos, options = request.param(tmp_path_factory.mktemp("photos"))
    out = tmp_path_factory.mktemp("run") / "parts"
    done = partdino("segment", photos, "--out", out, *flags(options))
    assert done.code == 0, done.stderr
    return out


def mend_a_piece(page) -> None:
    """Give the first piece of another part that the pointer finds to the first part."""
    said = page.locator("#piece")
    sync_api.expect(said).not_to_have_text("")
    box = page.locator("#whole").bounding_box()
    for down in range(2, 9):
        for across in range(2, 9):
            page.mouse.move(
                box["x"] + across / 10 * box["width"], box["y"] + down / 10 * box["height"]
            )
            page.wait_for_timeout(30)
            if said.inner_text().partition(" to ")[0] in NAMES[1:]:
                page.mouse.down()
                page.mouse.up()
                return
    raise AssertionError("no piece of a part was found")


def save(page, kind: str, to: Path) -> Path:
    page.select_option("#export-kind", kind)
    with page.expect_download(timeout=120_000) as download:
        page.click("#export-save")
    path = to / download.value.suggested_filename
    download.value.save_as(path)
    return path


def test_from_six_numbers_to_a_report(browser, segmented: Path, tmp_path: Path):
    openpyxl = pytest.importorskip("openpyxl")
    server, trouble = Served(segmented), []
    page = browser.new_page(viewport={"width": 1300, "height": 800})
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.goto(server.address)
    page.wait_for_selector("figure.loaded")
    page.click("#view-parts")
    sync_api.expect(page.locator("article")).to_have_count(PARTS)
    for number, name in enumerate(NAMES, start=1):
        page.locator(ORDER.format(number)).locator("input[type=text]").fill(name)
        page.keyboard.press("Enter")
    revision(page, server, 6)
    page.locator(ORDER.format(5)).get_by_role("combobox").select_option("breast")
    revision(page, server, 7)
    page.locator(ORDER.format(5)).get_by_role("button", name="Background").click()
    revision(page, server, 8)
    page.click("#check")
    page.click("#mend")
    page.keyboard.press("1")
    for done in range(3):
        mend_a_piece(page)
        revision(page, server, 9 + 2 * done)
        page.keyboard.press("f")
        revision(page, server, 10 + 2 * done)
    page.click("#close")
    said = server.said()
    assert said["parts"]["5"]["merged_into"] == 3 and said["parts"]["6"]["background"]
    assert list(said["photos"].values()) == ["fine"] * 3
    assert sorted(said["mended"]) == sorted(said["photos"])
    page.click("#export")
    with ZipFile(save(page, "cvat", tmp_path)) as archive:
        labels = json.loads(archive.read("labels.json"))
    assert [label["name"] for label in labels] == NAMES[:4]
    book = openpyxl.load_workbook(save(page, "excel", tmp_path), read_only=True)
    header, *rows = book["photos"].iter_rows(values_only=True)
    mended = {row[0] for row in rows if row[header.index("mended")]}
    photos = len(list((segmented / "labels").rglob("*.png")))
    assert len(rows) == photos and mended == set(said["mended"])
    report = save(page, "report", tmp_path).read_text(encoding="utf-8")
    assert "Parts 3 and 5 were merged by hand into “breast”." in report
    assert "3 photos were mended by hand." in report
    page.close()
    assert server.end() == 0
    assert [words for words in trouble if "willReadFrequently" not in words] == []
