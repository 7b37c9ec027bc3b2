"""The page of the review in a real browser: how tests drive it, and wait for what it shows."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from review_runs import NAMES
from segment_runs import process

CHROMIUM = shutil.which("chromium")
needs_browser = pytest.mark.skipif(
    CHROMIUM is None,
    reason="no Chromium: apt-get install -y --no-install-recommends chromium",
)
sync_api = pytest.importorskip("playwright.sync_api")
pytest.importorskip("uvicorn")
sync_api.expect.set_options(timeout=30_000)  # ms: machines that run tests are busy

ORDER = "#parts li:nth-child({})"


class Served:
    """`partdino review` as a process."""

    def __init__(self, folder: Path, *more: object) -> None:
        self.folder = folder
        self._process: subprocess.Popen = process("review", folder, "--no-browser", *more)
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip()

    def said(self) -> dict:
        return json.loads((self.folder / "review.json").read_text(encoding="utf-8"))

    def end(self, by: int = signal.SIGINT) -> int:
        self._process.send_signal(by)
        self._process.communicate(timeout=20)
        return self._process.returncode


def loaded(page, count: int = len(NAMES)) -> None:
    sync_api.expect(page.locator("figure.loaded")).to_have_count(count)


def pixel(page, photo: int, x: float, y: float) -> np.ndarray:
    """The colour of a photo in the grid, at a share of its width and height."""
    return np.array(
        page.locator("figure canvas")
        .nth(photo)
        .evaluate(
            "(c, [x, y]) => [...c.getContext('2d').getImageData("
            "Math.floor(x * c.width), Math.floor(y * c.height), 1, 1).data].slice(0, 3)",
            [x, y],
        )
    )


def in_time(page, is_drawn: Callable[[], bool]) -> bool:
    """Return whether something is drawn within ten seconds: the page draws after it has saved."""
    for _ in range(200):
        if is_drawn():
            return True
        page.wait_for_timeout(50)
    return False


def place_of(part: int, photo: int) -> tuple[float, float]:
    """Where the middle of a part's stripe is, see `review_runs.stripes`."""
    return (photo % 12 + 15 * part - 2.5) / 90, 0.5


def hover(page, photo: int, x: float, y: float) -> None:
    box = page.locator("figure canvas").nth(photo).bounding_box()
    page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])


def revision(page, served: Served, number: int) -> dict:
    """Wait until a page shows a revision, rows in their new places included; return the file's."""
    sync_api.expect(page.locator("body")).to_have_attribute("data-revision", str(number))
    assert served.said()["revision"] == number
    return served.said()
