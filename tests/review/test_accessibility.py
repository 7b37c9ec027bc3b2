"""What axe-core finds in every view of the page and in the report: nothing, light and dark."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from review_page import Served, needs_browser, sync_api
from review_runs import NAMES, SHA256, K, write_run

from partdino.runs.review import Mend, Review, changed, write_review
from partdino.runs.review.mend import pieces_hash
from partdino.runs.writers.pieces import pieces_path

AXE = Path(sys.prefix) / "axe.min.js"  # scripts/test.sh gets it
pytestmark = [
    needs_browser,
    pytest.mark.skipif(not AXE.exists(), reason=f"no {AXE}, axe-core 4 from npm"),
]

GERMAN = "Handschwingendeckfedernansatzstelle-" * 4
# All that a part and a photo may have said of them.
CHANGES = [
    {"part": 1, "said": {"name": GERMAN, "colour": "#101010"}},
    {"part": 2, "said": {"name": "Bürzel", "colour": "#f0f0f0", "hidden": True}},
    {"part": 3, "said": {"merged_into": 1}},
    {"part": 4, "said": {"background": True}},
    {"photo": NAMES[0], "said": "fine"},
    {"photo": NAMES[1], "said": "wrong"},
    {"photo": NAMES[2], "said": "excluded"},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of which all is said that can be."""
    out = write_run(tmp_path_factory.mktemp("axe"))
    mended = Mend(pieces_hash(pieces_path(out, NAMES[3]).read_bytes()), (60, 90), {0: (0, 5)})
    changes = [*CHANGES, {"mended": NAMES[3], "said": mended.document()}]
    write_review(out, changed(Review(SHA256), changes, K, NAMES))
    return out


@pytest.fixture(scope="module")
def server(folder: Path, run_folder: Path) -> Iterator[Served]:
    server = Served(folder, "--beside", run_folder)
    yield server
    server.end()


@pytest.fixture(params=["light", "dark"])
def page(browser, request: pytest.FixtureRequest) -> Iterator:
    """A page as small as one of 1300 x 800 is at 200%, in light and in dark colours."""
    size = {"width": 650, "height": 400}
    context = browser.new_context(viewport=size, color_scheme=request.param)
    yield context.new_page()
    context.close()


def findings(page) -> list[str]:
    """What axe-core finds wrong, with the elements."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")["violations"]
    return [f"{each['id']}: {node['html']}" for each in found for node in each["nodes"]]


def photos(page) -> None:
    page.click("#parts li:first-child .number")


def no_photos(page) -> None:
    page.select_option("#filter", "look")
    page.select_option("#filter", "wrong")
    page.keyboard.press("Tab")


def examples(page) -> None:
    page.click("#view-parts")
    sync_api.expect(page.locator("article").first).to_be_visible()


def table(page) -> None:
    page.click("#view-table")
    sync_api.expect(page.locator("#table tbody tr")).to_have_count(12)
    page.locator("#table th button").first.click()


def keys(page) -> None:
    page.click("#help")


def export(page) -> None:
    page.click("#export")
    sync_api.expect(page.locator("#export-kind option")).not_to_have_count(0)


def one_photo(page) -> None:
    page.locator("figure .name").first.click()
    for _ in range(3):
        page.keyboard.press("n")  # to the one that is mended
    sync_api.expect(page.locator("#zoom")).not_to_have_text("")
    sync_api.expect(page.locator("#beside")).to_contain_text("like")


def mending(page) -> None:
    one_photo(page)
    page.keyboard.press("m")
    page.keyboard.press("l")
    sync_api.expect(page.locator("#piece")).not_to_have_text("")


def brush(page) -> None:
    mending(page)
    page.keyboard.press("r")
    sync_api.expect(page.locator("#brush-size")).to_be_visible()


VIEWS = [photos, no_photos, examples, table, keys, export, one_photo, mending, brush]


def test_nothing_is_found_in_any_view(page, server: Served):
    page.goto(server.address)
    found = {}
    for view in VIEWS:
        page.reload()
        page.wait_for_selector("figure.loaded")
        view(page)
        found[view.__name__] = findings(page)
    assert found == {view.__name__: [] for view in VIEWS}


def test_nothing_is_found_in_a_report(page, folder: Path, partdino: Callable, tmp_path: Path):
    assert partdino("report", folder, "--out", tmp_path / "a.html").code == 0
    page.goto((tmp_path / "a.html").as_uri())
    assert findings(page) == []
