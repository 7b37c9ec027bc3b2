"""Two runs side by side on the page, by mouse and by keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from review_page import ORDER, Served, in_time, loaded, needs_browser, revision, sync_api

pytestmark = needs_browser


@pytest.fixture
def page(browser, own_folder: Path, other_folder: Path) -> Iterator:
    """The page of a review of two runs."""
    server, trouble = Served(own_folder, "--beside", other_folder), []
    page = browser.new_page(viewport={"width": 1300, "height": 800})
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.goto(server.address)
    loaded(page)
    page.server = server
    yield page
    page.close()
    assert server.end() == 0
    assert [words for words in trouble if "willReadFrequently" not in words] == []


def colour(page, canvas: str, x: float, y: float) -> list[int]:
    """The colour of a canvas at a share of its width and height."""
    read = """(c, [x, y]) => [...c.getContext('2d').getImageData(
        Math.floor(x * c.width), Math.floor(y * c.height), 1, 1).data].slice(0, 3)"""
    return page.locator(canvas).evaluate(read, [x, y])


def test_one_photo_in_both(page):
    before = (page.server.folder.parent / "b/out/review.json").read_bytes()
    other = page.locator("#other")
    page.locator("figure .name").nth(5).click()
    sync_api.expect(other).to_have_attribute("data-revision", "0")
    sync_api.expect(page.locator("#beside")).to_contain_text("Kopf: like part 1, 100 %")
    sync_api.expect(page.locator("#beside")).to_contain_text("part 2: like none")
    # Both canvases are as large, and show the photo at the same place, part 1 in one colour.
    middle = 0.5 + 0.8 * (5 + 15 - 2.5 - 45) / 90
    assert in_time(page, lambda: max(colour(page, "#other", middle, 0.5)) > 60)
    near = np.subtract(colour(page, "#whole", middle, 0.5), colour(page, "#other", middle, 0.5))
    assert np.abs(near).max() <= 3
    box = other.bounding_box()
    page.mouse.move(box["x"] + middle * box["width"], box["y"] + box["height"] / 2)
    sync_api.expect(page.locator("#tip")).to_have_text("Kopf")
    page.mouse.down()
    page.mouse.up()
    sync_api.expect(page.locator("#parts li.selected .number")).to_have_text("1")
    page.keyboard.press("1")
    # What is said of the run follows; nothing is said of the other one.
    page.keyboard.press("f")
    sync_api.expect(other).to_have_attribute("data-revision", "1")
    page.keyboard.press("c")
    sync_api.expect(other).to_be_hidden()
    sync_api.expect(page.locator("#beside")).to_be_hidden()
    page.keyboard.press("Escape")
    page.locator(ORDER.format(1)).locator("input[type=text]").fill("Schnabel")
    page.keyboard.press("Enter")
    revision(page, page.server, 2)
    page.locator("figure .name").first.click()
    page.click("#compare")
    sync_api.expect(page.locator("#beside")).to_contain_text("out has no such photo")
    page.keyboard.press("n")
    sync_api.expect(page.locator("#beside")).to_contain_text("Kopf: like Schnabel, 100 %")
    assert (page.server.folder.parent / "b/out/review.json").read_bytes() == before


def test_without_another_run_there_is_no_word_of_it(window):
    window.locator("figure .name").first.click()
    window.keyboard.press("c")
    sync_api.expect(window.locator("#compare")).to_be_hidden()
    sync_api.expect(window.locator("#other")).to_be_hidden()
