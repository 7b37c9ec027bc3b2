"""A finished run to be reviewed, and its page in a browser."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from review_runs import NAMES, SHA256, K, stripes, write_run

from partdino.runs.review import Review, changed, write_review
from partdino.runs.review.finished import IndexedRun, open_run

if TYPE_CHECKING:
    from review_page import Served


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output folder of a run, to be read only."""
    return write_run(tmp_path_factory.mktemp("review"))


@pytest.fixture
def own_folder(tmp_path: Path) -> Path:
    """The output folder of a run of one's own."""
    return write_run(tmp_path)


@pytest.fixture(scope="session")
def run(run_folder: Path) -> IndexedRun:
    """The run, opened."""
    return open_run(run_folder)


# Parts 1, 2 and 3 have other numbers in the other run, and 4 is not found.
OTHER = np.array([0, 3, 1, 4, 0], np.uint8)


@pytest.fixture
def other_folder(tmp_path: Path) -> Path:
    """A run that has all photos but the first, and names its largest part."""
    folder = write_run(tmp_path / "b", NAMES[1:], lambda index: OTHER[stripes(index + 1, None)])
    said = {"part": 3, "said": {"name": "Kopf"}}
    write_review(folder, changed(Review(SHA256), [said], K, NAMES[1:]))
    return folder


@pytest.fixture
def served(own_folder: Path) -> Iterator[Served]:
    """A review of a run of one's own."""
    from review_page import Served

    server = Served(own_folder)
    yield server
    server.end(signal.SIGKILL)


@pytest.fixture(scope="module")
def browser() -> Iterator:
    """Chromium."""
    from review_page import CHROMIUM, sync_api

    with sync_api.sync_playwright() as playwright:
        # Chromium's own sandbox cannot be had for root.
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def window(browser, served: Served) -> Iterator:
    """The page of a review; nothing must go wrong in it."""
    from review_page import loaded

    context = browser.new_context(viewport={"width": 1300, "height": 800})
    page, trouble = context.new_page(), []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("dialog", lambda dialog: trouble.append(dialog.message))
    page.goto(served.address)
    loaded(page)
    yield page
    context.close()
    # What the tests themselves provoke: a server that is gone, and canvases that are read.
    expected = ("net::ERR_", "willReadFrequently")
    assert [words for words in trouble if not any(part in words for part in expected)] == []
