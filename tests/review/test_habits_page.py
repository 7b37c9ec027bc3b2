"""What is expected of any page: keys alone, any name and size, nothing from elsewhere."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from review_page import ORDER, Served, in_time, loaded, needs_browser, revision, sync_api
from review_runs import NAMES, SHA256, K, write_run

from partdino.runs.review import Review, changed, write_review

pytestmark = needs_browser

LONG = "Handschwingendeckfedernansatzstelle" * 6  # 210 characters: 200 are kept
HOSTILE = (
    "<img src=x onerror=alert(1)>.jpg",
    "\u202ea\u2066 &amp;'\"`{{1}}.jpg",
    "ü" * 100 + ".jpg",
)


@pytest.fixture
def page(browser, tmp_path: Path) -> Iterator:
    """A review of photos and parts with all kinds of names; nothing must go wrong in it."""
    out = write_run(tmp_path, HOSTILE)
    said = [
        {"part": 1, "said": {"name": LONG[:200]}},
        {"part": 2, "said": {"name": '"><script>alert(2)</script>'}},
        {"part": 3, "said": {"name": "../../etc/passwd"}},
    ]
    write_review(out, changed(Review(SHA256), said, K, HOSTILE))
    server, trouble = Served(out), []
    page = browser.new_page(viewport={"width": 1300, "height": 800})
    for kind in ("console", "pageerror", "dialog"):
        page.on(kind, lambda event: trouble.append(str(getattr(event, "text", event))))
    page.goto(server.address)
    loaded(page, 3)
    page.server = server
    yield page
    page.close()
    assert server.end() == 0
    assert trouble == []


def show_photos(page) -> None:
    page.click("#view-photos")


def show_parts(page) -> None:
    page.click("#view-parts")
    sync_api.expect(page.locator("article").first).to_be_visible()


def show_table(page) -> None:
    page.click("#view-table")
    sync_api.expect(page.locator("#table tbody tr")).to_have_count(3)


def show_export(page) -> None:
    page.click("#export")
    sync_api.expect(page.locator("#export-kind option")).not_to_have_count(0)


def show_keys(page) -> None:
    page.click("#help")


def show_mending(page) -> None:
    page.keyboard.press("q")
    sync_api.expect(page.locator("#zoom")).not_to_have_text("")
    page.keyboard.press("m")


VIEWS = (show_photos, show_parts, show_table, show_export, show_keys, show_mending)


# 200% of a usual window, and 400%, which WCAG asks for (1.4.10).
@pytest.mark.parametrize("size", [(1300, 800), (650, 400), (325, 600)])
def test_names_of_all_kinds_are_text_and_fit(page, size: tuple[int, int]):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    for view in VIEWS:
        view(page)
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.evaluate(wide) <= 0, view.__name__
        for dialog in page.locator("dialog[open]").all():
            box = dialog.bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= size[0] + 1, view.__name__
        assert page.locator("img[src=x]").count() == 0
        page.keyboard.press("Escape")
        page.keyboard.press("Escape")
    assert page.locator(ORDER.format(1)).locator("input[type=text]").input_value() == LONG[:200]


def test_all_that_can_be_pressed_is_reached_by_tab(window):
    page = window
    page.locator("#view-photos").focus()
    reach = """() => { const seen = new Set();
      return { seen, note: () => seen.add(document.activeElement) }; }"""
    handle = page.evaluate_handle(reach)
    for _ in range(60):
        handle.evaluate("({ note }) => note()")
        page.keyboard.press("Tab")
    missed = handle.evaluate("""({ seen }) =>
      [...document.querySelectorAll("button, input, select")]
        .filter((each) => each.checkVisibility() && !each.disabled && each.tabIndex >= 0)
        .filter((each) => !seen.has(each))
        .map((each) => each.outerHTML)""")
    assert missed == []
    assert handle.evaluate("({ seen }) => [...seen].some((each) => each.matches('figure'))")


def test_parts_are_changed_by_keys_alone(window, served: Served):
    page, row = window, window.locator(ORDER.format(2))

    def press(name: str, key: str = "Enter") -> None:
        page.keyboard.press("Tab")
        for _ in range(30):
            if page.evaluate("document.activeElement.textContent") == name:
                break
            page.keyboard.press("Tab")
        page.keyboard.press(key)

    row.locator("input[type=text]").focus()
    page.keyboard.type("wing")
    page.keyboard.press("Enter")
    revision(page, served, 1)
    row.locator("input[type=text]").focus()
    press("Hide")
    assert revision(page, served, 2)["parts"]["2"] == {"name": "wing", "hidden": True}
    press("Background", "Space")
    assert revision(page, served, 3)["parts"]["2"]["background"] is True
    for number in (4, 5):
        page.keyboard.press("Control+z")
        revision(page, served, number)
    press("Split")
    assert revision(page, served, 6)["splits"]["5"]["of"] in (2, 3)
    page.keyboard.press("Control+z")
    revision(page, served, 7)
    # Choices that are passed are not made; leaving takes the choice back.
    merge = row.get_by_role("combobox")
    merge.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    sync_api.expect(merge).to_have_value("")
    merge.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    sync_api.expect(merge).to_have_value("3")
    page.keyboard.press("Enter")
    assert revision(page, served, 8)["parts"] == {"2": {"name": "wing", "merged_into": 3}}


def test_everything_comes_from_the_server_and_there_is_a_favicon(window, served: Served):
    asked: list[tuple[str, int]] = []
    window.on("response", lambda answer: asked.append((answer.url, answer.status)))
    window.reload()
    loaded(window)
    window.click("#view-parts")
    sync_api.expect(window.locator("article img").first).to_have_js_property("complete", True)
    site = f"http://{urlsplit(served.address).netloc}/"
    assert all(url.startswith((site, "blob:")) and status < 400 for url, status in asked)
    icon = window.locator("link[rel=icon]").get_attribute("href")
    answer = window.request.get(site + icon.lstrip("/"))
    assert answer.ok and answer.headers["content-type"] == "image/svg+xml"


def test_this_machine_alone_is_listened_to(own_folder: Path, run_folder: Path):
    servers = [Served(own_folder), Served(run_folder)]
    addresses = [urlsplit(server.address) for server in servers]
    assert {address.hostname for address in addresses} == {"127.0.0.1"}
    assert addresses[0].port != addresses[1].port and addresses[0].query != addresses[1].query
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", addresses[0].port), timeout=5)
    assert [server.end() for server in servers] == [0, 0]


def test_a_reload_in_the_midst_keeps_what_was_said(window, served: Served):
    page = window
    page.keyboard.press("q")
    page.keyboard.press("w")
    revision(page, served, 1)
    page.keyboard.press("m")
    page.reload()
    loaded(page)
    sync_api.expect(page.locator("#viewer")).to_be_hidden()
    sync_api.expect(page.locator("#count")).to_have_text("1 of 12 checked")
    # Whether what is said at this very moment was in time or not: the page shows what is kept.
    field = page.locator(ORDER.format(1)).locator("input[type=text]")
    field.fill("head")
    page.keyboard.press("Enter")
    page.reload()
    loaded(page)

    def is_what_is_kept() -> bool:
        return field.input_value() == served.said()["parts"].get("1", {}).get("name", "")

    assert in_time(page, is_what_is_kept)
    page.click("#undo")
    page.locator("figure .name").nth(11).click()
    sync_api.expect(page.locator("#photo-name")).to_have_text(NAMES[11])
