"""What the documentation names is there: commands, options, files, modules, links."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest
import typer

from partdino.cli.main import app

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "data/README.md")),
    *sorted((ROOT / "docs" / "pages").rglob("*.md")),
]
TOP = {path.name for path in ROOT.iterdir()} - {"data"}
# Of other programs, in examples.
FOREIGN = ("pip", "python", "python3", "bash", "COUNT=16", ".", "#")


@cache
def commands() -> dict[tuple[str, ...], set[str]]:
    """Return the options of every command by its words."""
    found: dict[tuple[str, ...], set[str]] = {}

    def visit(command: click.Command, words: tuple[str, ...]) -> None:
        found[words] = {flag for p in command.params for flag in (*p.opts, *p.secondary_opts)}
        for name, inner in getattr(command, "commands", {}).items():
            visit(inner, (*words, name))

    visit(typer.main.get_command(app), ())
    return found


def code_of(text: str) -> Iterator[str]:
    """Yield code spans, and the lines of code blocks, fenced or indented."""
    text = re.sub(r"\\\n\s+", " ", text)
    fenced = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", re.S | re.M)
    for block in fenced.finditer(text):
        if block[2] in ("", "bash", "console"):
            yield from block[3].splitlines()
    text = fenced.sub("", text)
    yield from (line.strip() for line in text.splitlines() if line.startswith("    "))
    yield from re.findall(r"`([^`\n]+)`", text)


def problems(text: str, page: Path) -> list[str]:
    """Return what a page names that is not there."""
    found = []
    for code in code_of(text):
        found += wrong_commands(code) + wrong_paths(code) + wrong_modules(code)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if "://" not in target and not (page.parent / target).exists():
            found.append(f"no file {target}")
    return found


def wrong_commands(code: str) -> list[str]:
    options = set().union(*commands().values())
    if not code.startswith("partdino "):
        alone = re.fullmatch(r"(--[a-z][a-z-]*)( .*)?", code)
        return [f"no option {code}"] if alone and alone[1] not in options else []
    found = []
    for part in re.split(r"&&|\|", code.split(" #")[0]):
        words = part.split()
        if words[:1] != ["partdino"]:
            continue
        name: tuple[str, ...] = ()
        for word in words[1:]:
            if (*name, word) not in commands():
                break
            name = (*name, word)
        if len(words) > 1 and not name and not words[1].startswith("-"):
            found.append(f"no command {' '.join(words[:2])}")
        # `eval` of a benchmark that is left open has the options of all of them.
        own = [flags for key, flags in commands().items() if key[: len(name)] == name]
        known = {"--help"}.union(*own)
        flags = [word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)]
        wrong = [flag for flag in flags if flag not in known]
        found += [f"no option {flag} of {' '.join(words[:2])}" for flag in wrong]
    return found


def wrong_paths(code: str) -> list[str]:
    """Paths below the top folders of the repository."""
    found = []
    for path in re.findall(r"(?<![\w/.-])((?:[\w.-]+/)+[\w.-]*)", code):
        first = path.split("/")[0]
        known = first in TOP or path.startswith(("data/samples", "data/README"))
        if known and "NAME" not in path and not path.startswith(("docs/site", "demo_out")):
            found += [] if (ROOT / path).exists() else [f"no file {path}"]
    return found


def wrong_modules(code: str) -> list[str]:
    found = []
    for name in re.findall(r"\bpartdino(?:\.\w+)+", code):
        if name in ("partdino.boundaries", "partdino.regions", "partdino.features"):
            continue  # groups of entry points
        found += [] if resolves(name) else [f"no module or name {name}"]
    return found


def resolves(name: str) -> bool:
    """Tell whether a dotted name can be imported: a module, or what is in one."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ImportError:
            continue
        for part in parts[end:]:
            found = getattr(found, part, None)
        return found is not None
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_names_is_there(page):
    text = page.read_text(encoding="utf-8")
    if page.name == "CHANGELOG.md":  # tells of what is gone, too
        text = re.sub(r"Modules were renamed:.*?stays\.", "", text, flags=re.S)
    assert problems(text, page) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("    partdino segmnt photos\n", "no command partdino segmnt"),
        (
            "    partdino segment photos --partz 6 --out x\n",
            "no option --partz of partdino segment",
        ),
        ("Pass `--nothing` to it.", "no option --nothing"),
        ("See `scripts/missing.sh`.", "no file scripts/missing.sh"),
        ("See `partdino.describe.nothing`.", "no module or name partdino.describe.nothing"),
        ("[here](missing.md)", "no file missing.md"),
        ("```bash\npartdino fit store --out m --k 6\n```\n", "no option --k of partdino fit"),
    ],
)
def test_what_is_not_there_is_found(text, problem):
    assert problems(text, ROOT / "README.md") == [problem]


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


def test_the_samples_are_small_and_everyones():
    folder = ROOT / "data" / "samples" / "birds"
    photos = {path.name for path in folder.glob("*.jpg")}
    rows = [line.split("\t") for line in (folder / "ATTRIBUTION.tsv").read_text().splitlines()[1:]]
    assert {row[0] for row in rows} == photos and len(photos) >= 15
    assert {row[2] for row in rows} <= {"Public domain", "CC0"}
    assert sum(path.stat().st_size for path in folder.iterdir()) < 2_000_000
