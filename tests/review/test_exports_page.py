"""Exports, measurements and the report from the page, by mouse and by keyboard."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

from review_page import ORDER, Served, needs_browser, revision, sync_api
from review_runs import NAMES

pytestmark = needs_browser


def test_what_was_said_is_in_what_is_saved(window, served: Served, tmp_path: Path):
    page = window
    page.locator(ORDER.format(1)).locator("input[type=text]").fill("Flügel")
    page.keyboard.press("Enter")
    revision(page, served, 1)
    page.click("#export")
    page.select_option("#export-kind", "cvat")
    sync_api.expect(page.locator("#export-photos-label")).to_be_visible()
    with page.expect_download() as download:
        page.click("#export-save")
    assert download.value.suggested_filename == "out.cvat.zip"
    download.value.save_as(tmp_path / "a.zip")
    with ZipFile(tmp_path / "a.zip") as archive:
        assert "Flügel" in archive.read("labels.json").decode()
    sync_api.expect(page.locator("#export-said")).to_contain_text("out.cvat.zip")
    # What is changed in the meantime is in the next one.
    page.click("#export-close")
    page.locator(ORDER.format(1)).locator("input[type=text]").fill("Schnabel")
    page.keyboard.press("Enter")
    revision(page, served, 2)
    page.locator("#grid").focus()
    page.keyboard.press("e")
    page.keyboard.press("Tab")  # to what it is to be
    sync_api.expect(page.locator("#exports")).to_be_visible()
    page.locator("#export-kind").focus()
    page.keyboard.press("Home")
    sync_api.expect(page.locator("#export-kind")).to_have_value("report")
    sync_api.expect(page.locator("#export-photos-label")).to_be_hidden()
    page.keyboard.press("Tab")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename == "out.report.html"
    download.value.save_as(tmp_path / "r.html")
    assert "Schnabel" in (tmp_path / "r.html").read_text(encoding="utf-8")
    page.keyboard.press("Escape")
    sync_api.expect(page.locator("#exports")).to_be_hidden()


def test_what_cannot_be_saved_is_said(browser, served: Served):
    for name in NAMES:
        (served.folder / "labels" / f"{name}.png").unlink()
    page = browser.new_page()
    page.goto(served.address)
    page.wait_for_selector("body[data-revision]")
    page.click("#export")
    page.select_option("#export-kind", "masks")
    page.click("#export-save")
    sync_api.expect(page.locator("#export-said")).to_contain_text("Not saved: no image of")
    sync_api.expect(page.locator("#export-save")).to_be_enabled()
    page.close()
