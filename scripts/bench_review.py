"""What `partdino review` takes with thousands of photos: first sight, scrolling, memory.

    python scripts/bench_review.py FOLDER --photos 5000

FOLDER gets rendered photos and a run of them, unless it has them already. Needs Chromium and
Playwright (`pip install -e '.[dev]'`).
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from playwright.sync_api import Page, sync_playwright

sys.path += [str(Path(__file__).parents[1] / "tests" / each) for each in ("", "review")]

from review_page import CHROMIUM, Served
from review_runs import stripes, write_run

ENLARGED = 8  # rendered photos have 720 x 480 pixels then
SCREENS = 60  # that are scrolled through, three screens a second
JUMPS = 15

# For each photo that is in view: since when it has been blank, and the longest time that one was.
WATCH = """() => {
  const grid = document.getElementById("grid"), since = new Map();
  window.longest = 0;
  const look = (now) => {
    const { top, bottom } = grid.getBoundingClientRect();
    for (const figure of document.querySelectorAll("figure")) {
      const box = figure.getBoundingClientRect();
      const blank = box.bottom > top && box.top < bottom && !figure.matches(".loaded");
      if (!blank) since.delete(figure);
      else if (!since.has(figure)) since.set(figure, now);
    }
    for (const [figure, start] of since) {
      if (figure.isConnected) window.longest = Math.max(window.longest, now - start);
      else since.delete(figure);
    }
    window.watching = requestAnimationFrame(look);
  };
  look(performance.now());
}"""
PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
IN_VIEW = """() => {
  const { bottom, top } = document.getElementById("grid").getBoundingClientRect();
  const seen = [...document.querySelectorAll("figure")].filter((figure) => {
    const box = figure.getBoundingClientRect(); return box.bottom > top && box.top < bottom; });
  return seen.length > 0 && seen.every((figure) => figure.matches(".loaded")); }"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("folder", type=Path)
    options.add_argument("--photos", type=int, default=5000)
    asked = options.parse_args()
    out = asked.folder / "out"
    if not (out / "run.json").exists():
        names = [f"{number:05}.jpg" for number in range(asked.photos)]
        write_run(asked.folder, names, _draw)
    server = Served(out)
    try:
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            page = chromium.new_page(viewport={"width": 1300, "height": 800})
            measured = _measure(page, server.address)
            for what, value in measured.items():
                print(f"| {what} | {value} |")
    finally:
        server.end()


def _draw(index: int) -> np.ndarray:
    return np.kron(stripes(index % 12, None), np.ones((ENLARGED, ENLARGED), np.uint8))


def _measure(page: Page, address: str) -> dict[str, str]:
    memory: list[float] = []

    def timed(work: Callable[[], Any]) -> float:
        start = time.perf_counter()
        work()
        seconds = time.perf_counter() - start
        memory.append(_megabytes(page))
        return seconds

    first = timed(lambda: _first(page, address))
    found = {
        "first paint": f"{page.evaluate(PAINT) / 1000:.1f} s",
        "first photo": f"{first:.1f} s",
        "all photos in view": f"{timed(lambda: page.wait_for_function(IN_VIEW)):.1f} s more",
    }
    page.evaluate(WATCH)
    timed(lambda: _scroll(page))
    found[f"longest blank photo, {SCREENS} screens scrolled"] = (
        f"{page.evaluate('longest') / 1000:.2f} s"
    )
    page.evaluate("cancelAnimationFrame(watching)")
    jumps = [timed(lambda at=at: _jump(page, at)) for at in np.linspace(0.05, 1, JUMPS)]
    found["after a jump, until all in view are there"] = (
        f"{median(jumps):.2f} s, at most {max(jumps):.2f} s"
    )
    found["Parts up close"] = f"{timed(lambda: _view(page, 'parts', 'article img[src]')):.1f} s"
    found["Table"] = f"{timed(lambda: _view(page, 'table', '#table tbody tr')):.1f} s"
    found["memory of the page (largest PSS)"] = f"{max(memory):.0f} MB"
    return found


def _first(page: Page, address: str) -> None:
    page.goto(address, wait_until="commit")
    page.wait_for_selector("figure.loaded")


def _scroll(page: Page) -> None:
    page.mouse.move(800, 400)
    for _ in range(SCREENS * 5):
        page.mouse.wheel(0, 150)
        page.wait_for_timeout(67)


def _jump(page: Page, share: float) -> None:
    move = "(grid, share) => { grid.scrollTop = share * (grid.scrollHeight - grid.clientHeight); }"
    page.locator("#grid").evaluate(move, share)
    page.evaluate("new Promise(requestAnimationFrame)")
    page.wait_for_function(IN_VIEW)


def _view(page: Page, view: str, shown: str) -> None:
    page.click(f"#view-{view}")
    page.wait_for_selector(shown)


def _megabytes(page: Page) -> float:
    """The largest renderer's own share of memory, MB."""
    browser = page.context.browser.new_browser_cdp_session()
    processes = browser.send("SystemInfo.getProcessInfo")["processInfo"]
    sizes = [0.0]
    for process in processes:
        with suppress(OSError):
            rollup = Path(f"/proc/{process['id']}/smaps_rollup").read_text()
            if process["type"] == "renderer":
                sizes.append(int(re.search(r"^Pss:\s+(\d+) kB", rollup, re.M)[1]) / 1000)
    browser.detach()
    return max(sizes)


if __name__ == "__main__":
    main()
