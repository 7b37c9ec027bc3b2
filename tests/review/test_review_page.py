"""The page of the review in a real browser, by mouse and by keyboard."""

from __future__ import annotations

import re
import signal
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from PIL import Image
from review_page import (
    ORDER,
    Served,
    hover,
    in_time,
    loaded,
    needs_browser,
    pixel,
    place_of,
    revision,
    sync_api,
)
from review_runs import NAMES, write_run

pytestmark = needs_browser

HOSTILE = "<img src=x onerror=alert(1)> ../\u202e ä"
ORANGE, BLUE = (255, 146, 0), (31, 160, 255)  # parts 1 and 2


def test_the_token_does_not_stay_in_the_address(window):
    assert "token" not in window.url
    window.reload()
    loaded(window)


def test_parts_are_drawn_named_and_selected_in_every_photo(window):
    page = window
    near = {part: pixel(page, 0, *place_of(part, 0)) for part in (1, 2)}
    assert np.abs(near[1] - np.array(ORANGE)).sum() < np.abs(near[1] - np.array(BLUE)).sum()
    assert np.abs(near[2] - np.array(BLUE)).sum() < np.abs(near[2] - np.array(ORANGE)).sum()
    hover(page, 3, *place_of(2, 3))
    sync_api.expect(page.locator("#tip")).to_have_text("part 2")
    page.mouse.down()
    page.mouse.up()
    selected = page.locator("#parts li.selected .number")
    sync_api.expect(selected).to_have_text("2")
    assert in_time(page, lambda: pixel(page, 0, *place_of(1, 0)).sum() < 0.7 * near[1].sum())
    assert (pixel(page, 0, *place_of(2, 0)) == near[2]).all()
    page.keyboard.press("2")
    sync_api.expect(selected).to_have_count(0)


def test_a_key_hides_the_overlay_while_it_is_held(window):
    place = place_of(1, 0)
    drawn = pixel(window, 0, *place)
    window.keyboard.down("h")
    assert np.ptp(pixel(window, 0, *place)) < 60  # the photo is grey there
    window.keyboard.up("h")
    assert (pixel(window, 0, *place) == drawn).all()
    window.locator("#opacity").focus()
    window.keyboard.press("Home")
    assert np.ptp(pixel(window, 0, *place)) < 60


def test_a_hostile_name_is_text_everywhere(window, served: Served):
    page = window
    page.locator(ORDER.format(1)).locator("input[type=text]").fill(HOSTILE)
    page.keyboard.press("Enter")
    kept = revision(page, served, 1)["parts"]["1"]["name"]
    assert kept == "<img src=x onerror=alert(1)> ../ ä"
    hover(page, 5, *place_of(1, 5))
    sync_api.expect(page.locator("#tip")).to_have_text(kept)
    page.click("#view-parts")
    sync_api.expect(page.locator("article h2").first).to_have_text(kept)
    assert page.locator("img[src=x]").count() == 0


def test_names_merges_background_and_undo_without_end(window, served: Served):
    page = window
    page.locator(ORDER.format(1)).locator("input[type=text]").fill("head")
    page.keyboard.press("Enter")
    revision(page, served, 1)
    page.locator(ORDER.format(2)).get_by_role("combobox").select_option("head")
    revision(page, served, 2)
    page.locator(ORDER.format(2)).get_by_role("button", name="Background").click()  # part 3
    revision(page, served, 3)
    page.locator(ORDER.format(3)).get_by_role("button", name="Hide").click()  # part 4
    revision(page, served, 4)
    page.locator(ORDER.format(1)).locator("input[type=color]").fill("#00ff00")
    everything = revision(page, served, 5)["parts"]
    assert everything == {
        "1": {"name": "head", "colour": "#00ff00"},
        "2": {"merged_into": 1},
        "3": {"background": True},
        "4": {"hidden": True},
    }

    def is_green() -> bool:
        green = pixel(page, 0, *place_of(2, 0))
        return bool(green[1] > 140 and green[1] > 2 * green[0])

    assert in_time(page, is_green)
    assert in_time(page, lambda: np.ptp(pixel(page, 0, *place_of(3, 0))) < 60)
    assert in_time(page, lambda: np.ptp(pixel(page, 0, *place_of(4, 0))) < 60)
    page.locator("#grid").focus()
    for step in range(5):
        page.keyboard.press("Control+z")
        revision(page, served, 6 + step)
    assert served.said()["parts"] == {}
    sync_api.expect(page.locator("#undo")).to_be_disabled()
    for step in range(5):
        page.click("#redo")
        revision(page, served, 11 + step)
    assert served.said()["parts"] == everything
    page.locator(".members button").click()
    assert "2" not in revision(page, served, 16)["parts"]


def test_examples_open_their_photo(window):
    window.click("#view-parts")
    first = window.locator("article").first
    sync_api.expect(first.locator("img")).to_have_count(11)
    name = first.locator("button").first.get_attribute("title")
    first.locator("button").first.click()
    sync_api.expect(window.locator("#photo-name")).to_have_text(name)


def test_the_queue_goes_through_all_by_keys(window, served: Served):
    page = window
    sync_api.expect(page.locator("#count")).to_have_text("0 of 12 checked")
    page.keyboard.press("q")
    sync_api.expect(page.locator("#reasons")).to_have_text("no object was found")
    for key, count in (("w", 1), ("x", 2), ("n", 2), ("f", 3)):
        name = page.locator("#photo-name").inner_text()
        page.keyboard.press(key)
        sync_api.expect(page.locator("#viewer-count")).to_have_text(f"{count} of 12 checked")
        sync_api.expect(page.locator("#photo-name")).not_to_have_text(name)
    page.keyboard.press("Escape")
    sync_api.expect(page.locator("#viewer")).to_be_hidden()
    photos = revision(page, served, 3)["photos"]
    assert sorted(photos.values()) == ["excluded", "fine", "wrong"]
    assert photos[NAMES[11]] == "wrong"
    page.select_option("#filter", "wrong")
    sync_api.expect(page.locator("figure")).to_have_count(1)


def test_one_photo_at_its_own_resolution(window):
    page = window
    page.locator("figure").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    sync_api.expect(page.locator("#photo-name")).to_have_text(NAMES[1])
    sync_api.expect(page.locator("#zoom")).not_to_have_text("")
    page.keyboard.press("o")
    sync_api.expect(page.locator("#zoom")).to_have_text("100 %")
    page.mouse.move(650, 300)
    page.mouse.wheel(0, -100)
    sync_api.expect(page.locator("#zoom")).to_have_text("125 %")


def test_two_windows_lose_nothing(browser, window, served: Served):
    second = window.context.new_page()
    second.goto(served.address.split("?")[0])
    loaded(second)
    window.locator(ORDER.format(1)).locator("input[type=text]").fill("head")
    window.keyboard.press("Enter")
    name = second.locator(ORDER.format(1)).locator("input[type=text]")
    sync_api.expect(name).to_have_value("head")
    second.locator(ORDER.format(2)).locator("input[type=text]").fill("wing")
    second.keyboard.press("Enter")
    assert revision(second, served, 2)["parts"] == {"1": {"name": "head"}, "2": {"name": "wing"}}
    second.click("#undo")  # its own change alone
    assert revision(second, served, 3)["parts"] == {"1": {"name": "head"}}


def test_a_server_that_is_gone_is_told_and_nothing_is_lost(window, served: Served):
    window.locator(ORDER.format(1)).locator("input[type=text]").fill("head")
    window.keyboard.press("Enter")
    revision(window, served, 1)
    assert served.end(signal.SIGKILL) == -signal.SIGKILL
    window.locator(ORDER.format(2)).locator("input[type=text]").fill("wing")
    window.keyboard.press("Enter")
    sync_api.expect(window.locator("#status")).to_contain_text("does not answer")
    again = Served(served.folder)
    window.goto(again.address)
    name = window.locator(ORDER.format(1)).locator("input[type=text]")
    sync_api.expect(name).to_have_value("head")
    assert again.end() == 0


def test_a_wrong_address_shows_nothing(browser, served: Served):
    page = browser.new_page()
    answer = page.goto(served.address + "x")
    assert answer.status == 403
    assert "partdino review" in page.locator("body").inner_text()
    page.close()


def test_only_what_is_in_view_is_in_the_page(browser, tmp_path: Path):
    names = [f"{number:03}.jpg" for number in range(300)]
    server = Served(write_run(tmp_path, names))
    page = browser.new_page(viewport={"width": 1300, "height": 800})
    page.goto(server.address)
    page.wait_for_selector("figure.loaded")
    assert page.locator("figure").count() < 60
    page.locator("figure").first.focus()
    page.locator("#grid").evaluate("grid => { grid.scrollTop = grid.scrollHeight; }")
    last = page.locator("figure.loaded", has_text="299.jpg")
    sync_api.expect(last).to_have_count(1)
    assert page.locator("figure").count() < 60
    page.close()
    assert server.end() == 0


def test_undo_survives_a_reload(window, served: Served):
    page = window
    for number, name in ((1, "head"), (2, "wing")):
        page.locator(ORDER.format(number)).locator("input[type=text]").fill(name)
        page.keyboard.press("Enter")
        revision(page, served, number)
    page.reload()
    loaded(page)
    page.click("#undo")
    assert revision(page, served, 3)["parts"] == {"1": {"name": "head"}}
    page.reload()
    loaded(page)
    page.locator("#grid").focus()
    page.keyboard.press("Control+y")
    assert revision(page, served, 4)["parts"] == {"1": {"name": "head"}, "2": {"name": "wing"}}
    page.click("#undo")
    revision(page, served, 5)
    page.click("#undo")
    assert revision(page, served, 6)["parts"] == {}


def test_figures_are_saved(window, served: Served, tmp_path: Path):
    page = window
    page.locator(ORDER.format(1)).locator("input[type=text]").fill(HOSTILE)
    page.keyboard.press("Enter")
    revision(page, served, 1)
    page.locator(ORDER.format(2)).get_by_role("button", name="Hide").click()
    revision(page, served, 2)
    with page.expect_download() as download:
        page.click("#save-legend")
    assert download.value.suggested_filename == "out.legend.svg"
    download.value.save_as(tmp_path / "a.svg")
    legend = ElementTree.parse(tmp_path / "a.svg").getroot()
    assert [text.text for text in legend.iter("{http://www.w3.org/2000/svg}text")] == [
        "<img src=x onerror=alert(1)> ../ ä",
        "part 3",
        "part 4",
    ]
    page.locator("figure .name").nth(3).click()
    sync_api.expect(page.locator("#whole")).to_have_attribute("data-version", re.compile("."))
    with page.expect_download() as download:
        page.keyboard.press("s")
    assert download.value.suggested_filename == "finch_03.parts.png"
    download.value.save_as(tmp_path / "a.png")
    figure = np.asarray(Image.open(tmp_path / "a.png").convert("RGB")).astype(int)
    assert figure.shape == (60, 90, 3)
    assert figure[30, 15, 0] > figure[30, 15, 2] + 60  # part 1 is orange
    assert np.ptp(figure[30, 30]) < 60  # part 2 is hidden
    with page.expect_download() as download:
        page.keyboard.press("d")
    assert download.value.suggested_filename == "finch_03.parts.svg"
    download.value.save_as(tmp_path / "b.svg")
    drawing = ElementTree.parse(tmp_path / "b.svg").getroot()
    shapes = drawing.findall(".//{http://www.w3.org/2000/svg}path")
    assert [shape.get("fill") for shape in shapes] == ["#ff9200", "#fff519", "#f622b5"]


def column(page, at: int) -> list[str]:
    return page.locator(f"#table tbody td:nth-child({at})").all_inner_texts()


def test_the_table_is_sorted_and_filtered(browser, own_folder: Path, tmp_path: Path):
    kinds = [f"{name};{name[:4]};{100 - index}" for index, name in enumerate(NAMES[:-1])]
    (tmp_path / "a.csv").write_text("\n".join(["file;genus;weight", *kinds]))
    server = Served(own_folder, "--metadata", tmp_path / "a.csv")
    page = browser.new_page(viewport={"width": 1300, "height": 800})
    page.goto(server.address)
    loaded(page)
    page.click("#view-table")
    rows = page.locator("#table tbody tr")
    sync_api.expect(rows).to_have_count(12)
    header = page.locator("#table th").all_inner_texts()
    measured = ["object, % of photo", *(f"part {part}, %" for part in range(1, 5)), "confidence"]
    assert header == ["photo", "checked", "mended", "genus", "weight", *measured]
    assert column(page, 7)[:3] == ["25.00", "25.00", "33.33"]
    page.get_by_role("button", name="weight", exact=True).click()
    sync_api.expect(rows.first.locator("td").nth(4)).to_have_text("100")
    page.keyboard.press("Enter")  # the other way round; what has none stays last
    sync_api.expect(rows.first.locator("td").nth(4)).to_have_text("90")
    assert column(page, 5) == [*map(str, range(90, 101)), ""]
    page.select_option("#table-filter", label="genus: wren")
    sync_api.expect(rows).to_have_count(5)
    assert {text.strip() for text in column(page, 4)} == {"wren"}
    assert page.locator("#table tbody .chip").count() == 5
    page.locator(ORDER.format(2)).get_by_role("button", name="Background").click()
    revision(page, server, 1)
    sync_api.expect(page.locator("#table th")).to_have_count(10)
    assert column(page, 7)[0] == "33.33"
    name = rows.first.locator("button")
    name.focus()
    page.keyboard.press("Enter")
    sync_api.expect(page.locator("#photo-name")).to_have_text(NAMES[10])
    page.keyboard.press("n")
    sync_api.expect(page.locator("#photo-name")).to_have_text(NAMES[9])
    page.close()
    assert server.end() == 0
