"""README and docs name only what exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from doc_names import ROOT, read_code, wrong_names

PAGES = sorted(
    [*ROOT.glob("*.md"), ROOT / "data" / "README.md", *(ROOT / "docs" / "pages").rglob("*.md")]
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_names_what_exists(page: Path):
    text = page.read_text(encoding="utf-8")
    if page.name == "CHANGELOG.md":  # tells of what is gone, too
        text = re.sub(r"Modules were renamed:.*?stays\.", "", text, flags=re.DOTALL)
    assert wrong_names(text, page) == []


def test_there_are_pages_with_commands():
    code = [read_code(page.read_text(encoding="utf-8")) for page in PAGES]
    lines = [line for each in code for block in each.blocks for line in block.splitlines()]
    assert len(PAGES) > 30
    assert sum(line.startswith("partdino ") for line in lines) > 30


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("    partdino segmnt photos", "there is no command partdino segmnt"),
        ("```\npartdino eval cup ROOT\n```", "there is no command partdino eval cup"),
        ("    partdino fit store --k 6", "partdino fit has no option --k"),
        ("    partdino features x \\\n      --parts 6", "partdino features has no option --parts"),
        ("Run `partdino label store --shards 1/2`.", "partdino label has no option --shards"),
        ("Pass `--patrs 6`.", "no command has an option --patrs"),
        ("See `scripts/nothing.py`.", "scripts/nothing.py does not exist"),
        ("    bash scripts/nothing.sh", "scripts/nothing.sh does not exist"),
        ("`partdino/inputs/read.py` reads.", "partdino/inputs/read.py does not exist"),
        ("In [`partdino.inputs`][].", "there is no partdino.inputs"),
        ("`partdino.files.write_nothing`", "there is no partdino.files.write_nothing"),
        ("```python\nfrom partdino.model import x\n```", "there is no partdino.model"),
        ("[there](nowhere.md#x)", "the link to nowhere.md leads nowhere"),
    ],
)
def test_wrong_name_is_found(text: str, problem: str):
    assert wrong_names(text, ROOT / "README.md") == [problem]


@pytest.mark.parametrize(
    "text",
    [
        "    partdino segment photos --parts 6 --out parts  # comment --nonsense",
        "    partdino eval BENCHMARK ROOT --labels DIR --out results",
        "`partdino eval` and `--parts auto` and `partdino.parts.fitting.fit_model`",
        "`python -m partdino info --json`, `partdino/files.py`, `labels/bird.jpg.png`",
        "[`fit`][partdino.estimator.PartDiscovery.fit] of `partdino.estimator.PartDiscovery`",
    ],
)
def test_right_names_are_not(text: str):
    assert wrong_names(text, ROOT / "README.md") == []


def test_readme_is_a_page():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


def test_samples_are_small_and_everyones():
    folder = ROOT / "data" / "samples" / "birds"
    photos = {path.name for path in folder.glob("*.jpg")}
    lines = (folder / "ATTRIBUTION.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines[1:]]
    assert {row[0] for row in rows} == photos and len(photos) >= 15
    assert {row[2] for row in rows} <= {"Public domain", "CC0"}
    assert sum(path.stat().st_size for path in folder.iterdir()) < 2_000_000
