"""How many objects a photo shows, on the page of the review."""

from __future__ import annotations

from pathlib import Path

from review_page import Served, loaded, needs_browser, sync_api
from review_runs import write_run

pytestmark = needs_browser


def test_an_open_photo_and_the_table_say_how_many_objects_there_are(browser, tmp_path: Path):
    server = Served(write_run(tmp_path, least_share=0.25))
    page = browser.new_page(viewport={"width": 1300, "height": 800})
    page.goto(server.address)
    loaded(page)
    page.locator("figure .name").nth(3).click()
    said = page.locator("#verdict")
    sync_api.expect(said).to_have_text("not checked, 1 object")
    page.keyboard.press("m")
    page.keyboard.press("0")
    page.keyboard.press("r")
    for _ in range(3):
        page.keyboard.press("]")
    box = page.locator("#whole").bounding_box()
    sync_api.expect(page.locator("#piece")).not_to_have_text("")
    middle = box["x"] + box["width"] / 2
    page.mouse.move(middle, box["y"] + 2)
    page.mouse.down()
    page.mouse.move(middle, box["y"] + box["height"] - 2, steps=20)
    page.mouse.up()
    sync_api.expect(said).to_have_text("not checked, mended, 2 objects")
    page.keyboard.press("Control+z")
    sync_api.expect(said).to_have_text("not checked, 1 object")
    page.keyboard.press("Control+y")
    page.keyboard.press("n")
    sync_api.expect(said).to_have_text("not checked, 1 object")
    page.keyboard.press("p")
    sync_api.expect(said).to_have_text("not checked, mended, 2 objects")
    page.click("#close")
    page.click("#view-table")
    cells = page.locator("#table tbody tr").nth(3).locator("td")
    sync_api.expect(page.locator("#table th").nth(3)).to_have_text("objects")
    sync_api.expect(cells.nth(3)).to_have_text("2")
    page.get_by_role("button", name="objects", exact=True).click()
    sync_api.expect(page.locator("#table tbody tr").first.locator("td").nth(3)).to_have_text("2")
    page.close()
    assert server.end() == 0
