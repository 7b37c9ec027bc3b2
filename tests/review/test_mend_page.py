"""Mending photos and splitting parts on the page, by mouse and by keyboard."""

from __future__ import annotations

import numpy as np
from review_page import (
    ORDER,
    Served,
    in_time,
    loaded,
    needs_browser,
    pixel,
    place_of,
    revision,
    sync_api,
)
from review_runs import NAMES, SHA256, K, pieces, stripes

from partdino.runs.review import Division, read_review
from partdino.runs.review.finished import open_run
from partdino.runs.writers.pieces import pieces_path

pytestmark = needs_browser


def open_photo(page, photo: int) -> None:
    """Open a photo and wait until it is drawn."""
    page.locator("figure .name").nth(photo).click()
    sync_api.expect(page.locator("#photo-name")).to_have_text(NAMES[photo])
    sync_api.expect(page.locator("#whole")).not_to_have_attribute("aria-busy", "")
    sync_api.expect(page.locator("#zoom")).not_to_have_text("")


def screen_place(page, x: float, y: float) -> tuple[float, float]:
    """Where a pixel of a fitted photo (90 x 60) is on the screen."""
    box = page.locator("#whole").bounding_box()
    scale = min(box["width"] / 90, box["height"] / 60)
    left = box["x"] + (box["width"] - 90 * scale) / 2
    top = box["y"] + (box["height"] - 60 * scale) / 2
    return left + x * scale, top + y * scale


def point(page, x: float, y: float, piece: str) -> None:
    """Put the cross on a pixel, and wait until the page says what is there."""
    sync_api.expect(page.locator("#piece")).not_to_have_text("")  # by now the photo has its place
    page.mouse.move(*screen_place(page, x, y))
    sync_api.expect(page.locator("#piece")).to_have_text(piece)


def labels(served: Served, photo: int) -> np.ndarray:
    """The label map of a photo as an export would have it."""
    run = open_run(served.folder)
    review = read_review(served.folder, SHA256, K)
    return Division(served.folder, review, K).result(run.images[photo]).label_map


def test_a_click_gives_a_piece_to_a_part(window, served: Served):
    page, photo = window, 3
    open_photo(page, photo)
    page.click("#mend")
    page.select_option("#mend-target", "4")
    before, regions = stripes(photo, None), pieces(stripes(photo, None)).regions
    x, y = 3 + 15 - 2.5, 30
    point(page, x, y, "part 1 to part 4")
    page.mouse.click(*screen_place(page, x, y))
    revision(page, served, 1)
    given = (regions == regions[30, int(x)]) & (before == 1)
    assert (labels(served, photo) == np.where(given, 4, before)).all()
    sync_api.expect(page.locator("#verdict")).to_have_text("not checked, mended")
    point(page, x, y, "part 4 to part 4")
    page.click("#mend-undo")
    assert "mended" not in revision(page, served, 2)
    point(page, x, y, "part 1 to part 4")
    page.click("#mend-redo")
    revision(page, served, 3)
    # Given back, nothing is left to say.
    page.select_option("#mend-target", "1")
    point(page, x, y, "part 4 to part 1")
    page.mouse.click(*screen_place(page, x, y))
    assert "mended" not in revision(page, served, 4)
    assert (labels(served, photo) == before).all()


def test_keys_give_a_piece_to_background(window, served: Served):
    page, photo = window, 5
    page.locator("figure").first.focus()
    for _ in range(photo):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    sync_api.expect(page.locator("#photo-name")).to_have_text(NAMES[photo])
    page.keyboard.press("m")
    sync_api.expect(page.locator("#piece")).to_have_text("part 3 to background")  # the middle
    page.keyboard.press("4")
    sync_api.expect(page.locator("#piece")).to_have_text("part 3 to part 4")
    page.keyboard.press("0")
    for _ in range(200):
        if page.locator("#piece").inner_text() == "part 2 to background":
            break
        page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("Enter")
    revision(page, served, 1)
    before, regions = stripes(photo, None), pieces(stripes(photo, None)).regions
    given = (regions == regions[30, 44]) & (before == 2)
    assert (labels(served, photo) == np.where(given, 0, before)).all()
    page.keyboard.press("Control+z")
    revision(page, served, 2)
    page.keyboard.press("Escape")
    sync_api.expect(page.locator("#mending")).to_be_hidden()
    sync_api.expect(page.locator("#viewer")).to_be_visible()
    page.keyboard.press("Escape")
    sync_api.expect(page.locator("#viewer")).to_be_hidden()


def test_a_lasso_gives_what_it_encloses(window, served: Served):
    page, photo = window, 0
    open_photo(page, photo)
    page.keyboard.press("m")
    page.keyboard.press("2")
    page.keyboard.press("l")
    page.keyboard.press("b")
    point(page, 70, 5, "background to part 2")
    corners = [(70, 5), (85, 5), (85, 25), (70, 25)]
    page.mouse.down()
    for corner in corners[1:]:
        page.mouse.move(*screen_place(page, *corner), steps=5)
    page.mouse.up()
    said = revision(page, served, 1)["mended"][NAMES[photo]]
    assert set(said["given"]) == {"2"}
    expected = stripes(photo, None)
    expected[5:25, 70:85] = 2
    assert (labels(served, photo) != expected).mean() < 0.02  # but for the line's own pixels
    assert (labels(served, photo)[7:23, 72:83] == 2).all()
    # With keys: corners where the cross is.
    page.keyboard.press("Control+z")
    revision(page, served, 2)
    for corner in corners:
        page.mouse.move(*screen_place(page, *corner))
        page.keyboard.press("Enter")
    page.keyboard.press("g")
    revision(page, served, 3)
    assert (labels(served, photo) != expected).mean() < 0.02
    page.click("#unmend")
    assert "mended" not in revision(page, served, 4)
    # Of the object alone.
    page.click("#lasso-all")
    sync_api.expect(page.locator("#lasso-all")).to_have_attribute("aria-pressed", "false")
    for corner in [(55, 5), (75, 5), (75, 25), (55, 25)]:
        page.mouse.move(*screen_place(page, *corner))
        page.keyboard.press("Enter")
    page.keyboard.press("g")
    revision(page, served, 5)
    after = labels(served, photo)
    assert ((after > 0) == (stripes(photo, None) > 0)).all() and (after[12:23, 57:65] == 2).all()


def near(line: tuple[float, float, float, float], radius: float) -> np.ndarray:
    """The pixels of a photo (90 x 60) within a radius of a level or upright line."""
    y, x = np.indices((60, 90)) + 0.5
    left, top, right, bottom = line
    return np.hypot(x - np.clip(x, left, right), y - np.clip(y, top, bottom)) <= radius


def test_a_brush_gives_what_it_passes_over(window, served: Served):
    page, photo = window, 0
    open_photo(page, photo)
    page.click("#mend")
    page.keyboard.press("2")
    page.click("#brush")
    sync_api.expect(page.locator("#brush")).to_have_attribute("aria-pressed", "true")
    page.click("#lasso-all")
    point(page, 70, 5, "background to part 2")
    zoom = page.locator("#zoom").inner_text()
    page.mouse.wheel(0, -100)
    page.mouse.wheel(0, -100)
    page.keyboard.press("]")
    page.keyboard.press("[")
    radius = 90 * 0.05 * 1.25**2 / 2
    assert page.locator("#zoom").inner_text() == zoom  # the wheel is the brush's
    page.mouse.down()
    for corner in [(80, 5), (80, 25)]:
        page.mouse.move(*screen_place(page, *corner), steps=5)
    page.mouse.up()
    said = revision(page, served, 1)["mended"][NAMES[photo]]
    assert set(said["given"]) == {"2"}
    before = stripes(photo, None)
    stroke = near((70, 5, 80, 5), radius) | near((80, 5, 80, 25), radius)
    assert ((labels(served, photo) == 2) != (stroke | (before == 2))).mean() < 0.02
    page.keyboard.press("Control+z")
    assert "mended" not in revision(page, served, 2)
    page.keyboard.press("Control+y")
    assert revision(page, served, 3)["mended"][NAMES[photo]] == said
    page.click("#unmend")
    revision(page, served, 4)
    # By keys: two dabs, of the object alone, and smaller.
    page.keyboard.press("b")
    sync_api.expect(page.locator("#lasso-all")).to_have_attribute("aria-pressed", "false")
    page.click("#brush-smaller")
    for corner in [(14, 5), (14, 25)]:
        page.mouse.move(*screen_place(page, *corner))
        page.keyboard.press("Enter")
    page.keyboard.press("g")
    revision(page, served, 5)
    after = labels(served, photo)
    stroke = near((14, 5, 14, 25), radius / 1.25) & (before > 0)
    assert ((after > 0) == (before > 0)).all()
    assert ((after == 2) != (stroke | (before == 2))).mean() < 0.02
    page.keyboard.press("r")
    sync_api.expect(page.locator("#brush-size")).to_be_hidden()


def test_mended_photos_are_marked_and_redrawn_in_the_grid(window, served: Served):
    page, photo = window, 3
    open_photo(page, photo)
    page.keyboard.press("m")
    x, y = 3 + 15 - 2.5, 30
    point(page, x, y, "part 1 to background")
    coloured = pixel(page, photo, x / 90, y / 60)
    page.mouse.click(*screen_place(page, x, y))
    revision(page, served, 1)
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    mark = page.locator("figure").nth(photo).locator(".mark")
    sync_api.expect(mark).to_have_text("mended")
    assert np.ptp(coloured) > 60
    assert in_time(page, lambda: np.ptp(pixel(page, photo, x / 90, y / 60)) < 60)
    page.reload()
    loaded(page)
    sync_api.expect(page.locator("figure").nth(photo).locator(".mark")).to_have_text("mended")
    assert np.ptp(pixel(page, photo, x / 90, y / 60)) < 60


def test_a_part_is_split_in_every_photo(window, served: Served):
    page = window
    row = page.locator(ORDER.format(2))
    row.get_by_role("button", name="Split part 2 in two").click()
    [cut] = revision(page, served, 1)["splits"].values()
    assert cut["of"] == 2 and cut["clusters"] in ([2], [3])
    new = page.locator(ORDER.format(5))
    sync_api.expect(new.locator(".number")).to_have_text("5")
    sync_api.expect(new.locator(".count")).to_have_text("in 11 of 12 photos")
    below = cut["clusters"] == [3]
    for photo in (0, 7):
        (x, _), after = place_of(2, photo), 0.7 if below else 0.3
        other = 1 - after
        # Another colour than the other half, where they were alike.
        assert in_time(
            page,
            lambda photo=photo, x=x, after=after, other=other: (
                np.abs(pixel(page, photo, x, after) - pixel(page, photo, x, other)).sum() > 90
            ),
        )
    new.locator("input[type=text]").fill("belly")
    page.keyboard.press("Enter")
    assert revision(page, served, 2)["parts"]["5"] == {"name": "belly"}
    page.locator("#grid").focus()
    page.keyboard.press("5")
    sync_api.expect(page.locator("#parts li.selected .number")).to_have_text("5")
    for step in (3, 4):
        page.keyboard.press("Control+z")
        revision(page, served, step)
    assert "splits" not in served.said()
    sync_api.expect(page.locator("#parts li")).to_have_count(4)
    page.keyboard.press("Control+y")
    assert revision(page, served, 5)["splits"] == {"5": cut}


def test_pieces_of_a_split_part_are_given_alone(window, served: Served):
    page, photo = window, 3
    page.locator(ORDER.format(1)).get_by_role("button", name="Split").click()
    revision(page, served, 1)
    open_photo(page, photo)
    page.keyboard.press("m")
    page.keyboard.press("5")
    x = 3 + 15 - 2.5
    upper, lower = ((x, 24), (x, 35))
    after = labels(served, photo)
    whole = upper if after[24, int(x)] == 1 else lower
    point(page, *whole, "part 1 to part 5")
    page.mouse.click(*screen_place(page, *whole))
    revision(page, served, 2)
    regions = pieces(stripes(photo, None)).regions
    given = (regions == regions[30, int(x)]) & (after == 1)
    assert (labels(served, photo) == np.where(given, 5, after)).all()


def test_what_cannot_be_done_is_said(browser, own_folder):
    pieces_path(own_folder, NAMES[2]).unlink()
    server = Served(own_folder)
    page = browser.new_page(viewport={"width": 1300, "height": 800})
    page.goto(server.address)
    loaded(page)
    page.locator(ORDER.format(1)).get_by_role("button", name="Split").click()
    sync_api.expect(page.locator("#status")).to_contain_text("1 of 12 photos were labelled with")
    open_photo(page, 2)
    page.keyboard.press("m")
    sync_api.expect(page.locator("#status")).to_contain_text("Nothing is kept to mend this photo")
    sync_api.expect(page.locator("#mending")).to_be_hidden()
    page.keyboard.press("p")
    page.keyboard.press("m")
    sync_api.expect(page.locator("#mending")).to_be_visible()
    page.close()
    assert server.end() == 0
