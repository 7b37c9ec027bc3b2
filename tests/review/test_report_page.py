"""The report in a real browser: opened from the disk, it is as lively as the review."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from review_page import in_time, needs_browser, sync_api
from review_runs import NAMES, SHA256, K

from partdino.runs.review import Review, changed, write_review

pytestmark = needs_browser

HOSTILE = "</script><img src=x onerror=alert(1)>"
RED = "#ff0000"  # of two parts
SAID = [
    {"part": 1, "said": {"name": HOSTILE, "colour": RED}},
    {"part": 2, "said": {"colour": RED}},
    {"part": 3, "said": {"hidden": True}},
    {"photo": NAMES[0], "said": "excluded"},
]


@pytest.fixture
def report(partdino: Callable, own_folder: Path, tmp_path: Path) -> Path:
    write_review(own_folder, changed(Review(SHA256), SAID, K, NAMES))
    kinds = [f"{name},{name[:4]},{100 - index}" for index, name in enumerate(NAMES)]
    (tmp_path / "a.csv").write_text("\n".join(["file,genus,weight", *kinds]))
    done = partdino(
        "report", own_folder, "--out", tmp_path / "r.html", "--metadata", tmp_path / "a.csv"
    )
    assert done.code == 0, done.stderr
    return tmp_path / "r.html"


@pytest.fixture
def page(browser, report: Path) -> Iterator:
    page, trouble = browser.new_page(viewport={"width": 1300, "height": 800}), []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("dialog", lambda dialog: trouble.append(dialog.message))
    page.on("request", lambda request: trouble.append(request.url))
    page.goto(report.as_uri())
    sync_api.expect(page.locator("#photo-0 canvas")).to_be_visible()
    yield page
    page.close()
    expected = ("data:", report.as_uri(), "Canvas2D: Multiple readback")  # of the tests
    others = [words for words in trouble if not words.startswith(expected)]
    assert others == []


def colour(page, photo: int, part: int) -> np.ndarray:
    """The colour of the middle of a part, see `review_runs.stripes`; photo 0 is the second one."""
    x = (photo + 1 + 15 * part - 2.5) / 90
    read = """(c, x) => [...c.getContext('2d').getImageData(
        Math.floor(x * c.width), c.height / 2, 1, 1).data].slice(0, 3)"""
    return np.array(page.locator(f"#photo-{photo} canvas").evaluate(read, x))


def hover(page, photo: int, part: int) -> None:
    box = page.locator(f"#photo-{photo} canvas").bounding_box()
    x = (photo + 1 + 15 * part - 2.5) / 90
    page.mouse.move(box["x"] + x * box["width"], box["y"] + box["height"] / 2)


def test_parts_are_named_selected_and_hidden(page):
    assert colour(page, 2, 1)[0] > colour(page, 2, 1)[1] + 60  # red
    assert np.ptp(colour(page, 2, 3)) < 60  # hidden
    hover(page, 2, 1)
    sync_api.expect(page.locator("#tip")).to_have_text(HOSTILE)
    hover(page, 2, 2)
    sync_api.expect(page.locator("#tip")).to_have_text("part 2")
    before = colour(page, 4, 1)
    page.mouse.down()
    page.mouse.up()
    pressed = page.locator(".legend button[aria-pressed=true]")
    sync_api.expect(pressed).to_have_text("part 2")
    assert in_time(page, lambda: colour(page, 4, 1).sum() < 0.7 * before.sum())
    pressed.focus()
    page.keyboard.press("Enter")
    sync_api.expect(pressed).to_have_count(0)
    page.keyboard.down("h")
    assert in_time(page, lambda: np.ptp(colour(page, 2, 1)) < 60)
    page.keyboard.up("h")
    assert in_time(page, lambda: np.ptp(colour(page, 2, 1)) > 60)
    page.locator("input[type=range]").focus()
    page.keyboard.press("Home")
    assert in_time(page, lambda: np.ptp(colour(page, 2, 1)) < 60)


def test_the_table_is_sorted_filtered_and_leads_to_the_photos(page):
    rows = page.locator("#table tbody tr")
    sync_api.expect(rows).to_have_count(11)
    page.get_by_role("button", name="weight", exact=True).click()
    sync_api.expect(rows.first.locator("td").first).to_have_text(NAMES[1])
    page.get_by_role("button", name="weight").click()
    sync_api.expect(rows.first.locator("td").first).to_have_text(NAMES[11])
    page.select_option("#table-filter", label="genus: finc")
    sync_api.expect(rows).to_have_count(5)
    assert page.locator("#table tbody .chip").count() == 5
    page.get_by_title(f"Open {NAMES[5]}").click()
    sync_api.expect(page.locator("#photo-4")).to_be_in_viewport()


def test_a_photo_is_enlarged_with_its_parts(page):
    button = page.locator("#photo-2 figcaption button")
    name = button.inner_text()
    button.click()
    dialog = page.get_by_role("dialog", name="One photo")
    canvas = dialog.locator("canvas")
    sync_api.expect(canvas).to_be_visible()
    sync_api.expect(dialog.locator("b")).to_have_text(name)
    box = canvas.bounding_box()
    x = (3 + 15 * 2 - 2.5) / 90
    page.mouse.move(box["x"] + x * box["width"], box["y"] + box["height"] / 2)
    sync_api.expect(page.locator("#tip")).to_have_text("part 2")
    page.keyboard.press("ArrowRight")
    sync_api.expect(dialog.locator("b")).not_to_have_text(name)
    page.keyboard.press("ArrowLeft")
    sync_api.expect(dialog.locator("b")).to_have_text(name)
    page.keyboard.press("o")
    sync_api.expect(dialog.get_by_role("button", pressed=True)).to_have_text("Own size (O)")
    sync_api.expect(canvas).to_have_js_property("width", 90)  # the photo's own
    page.keyboard.press("Escape")
    sync_api.expect(dialog).to_be_hidden()
    sync_api.expect(button).to_be_focused()


def test_all_is_there_without_scripts(browser, report: Path):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report.as_uri())
    photo, parts = page.locator("#photo-0 img").all()
    assert parts.bounding_box() == pytest.approx(photo.bounding_box(), abs=0.1)
    assert page.locator("#table tr").count() == 12
    assert page.locator(".legend").inner_text().split("\n")[-1].strip() == "part 4"
    context.close()
