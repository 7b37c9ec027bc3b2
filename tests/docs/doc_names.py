"""What README and docs name: the commands, options, files and modules in their code."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer

from partdino.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
# What a name must begin with to be one of the repository, and not of a reader's own folder.
_FOLDERS = ("partdino/", "scripts/", "configs/", "tests/", "docs/", ".ci/", "data/")
_SUFFIXES = {
    ".py",
    ".sh",
    ".md",
    ".yaml",
    ".yml",
    ".toml",
    ".sbatch",
    ".tsv",
    ".jpg",
    ".png",
    ".cff",
}
_MADE = ("docs/site",)  # by a script named beside it
_FENCE = re.compile(r"^ {0,3}```[^\n]*\n(.*?)^ {0,3}```", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(?<!`)`([^`\n]+(?:\n(?!\n)[^`\n]+)?)`(?!`)")
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
_COMMENT = re.compile(r"\s#\s.*")


@dataclass(frozen=True)
class Code:
    """Pieces of a Markdown text: blocks of lines, and spans within a sentence."""

    blocks: list[str]
    spans: list[str]


def read_code(text: str) -> Code:
    """Return the code of a Markdown text: fenced and indented blocks, and spans."""
    blocks = _FENCE.findall(text)
    prose = _FENCE.sub("\n", text)
    lines = prose.splitlines()
    # By the indent alone: the pages have no lists within lists, whose text would look alike.
    indented = [bool(re.match(r"( {4}|\t)\s*\S", line)) for line in lines]
    blocks.append(
        "\n".join(line.strip() for line, code in zip(lines, indented, strict=True) if code)
    )
    rest = "\n".join(line for line, code in zip(lines, indented, strict=True) if not code)
    return Code(blocks, [" ".join(span.split()) for span in _SPAN.findall(rest)])


def wrong_names(text: str, page: Path) -> list[str]:
    """Return what a Markdown text names that does not exist, one sentence each.

    Parameters
    ----------
    text
        The text.
    page
        The file that it is of: links are relative to it.
    """
    code = read_code(text)
    commands = [command for each in (*code.blocks, *code.spans) for command in _commands(each)]
    problems = [problem for words in commands for problem in _wrong_command(words)]
    problems += [
        f"no command has an option {span.split()[0]}"
        for span in code.spans
        if re.match(r"--[a-z]", span) and _bare(span.split()[0]) not in all_options()
    ]
    problems += [f"{each} does not exist" for each in _paths(code) if not _exists(each)]
    problems += [f"there is no {each}" for each in _modules(text) if not _importable(each)]
    problems += [
        f"the link to {link} leads nowhere"
        for link in _LINK.findall(text)
        if "://" not in link and not (page.parent / link).exists()
    ]
    return problems


def _commands(block: str) -> Iterator[list[str]]:
    """Yield the words of each `partdino` command in a piece of code."""
    for line in block.replace("\\\n", " ").splitlines():
        line = _COMMENT.sub("", line.strip())
        if match := re.search(r"(?:^|python -m )partdino (.*)", line):
            try:
                yield shlex.split(match[1])
            except ValueError:
                yield match[1].split()


def _wrong_command(words: Sequence[str]) -> Iterator[str]:
    command = typer.main.get_command(app)
    said = "partdino"
    words = list(words)
    while hasattr(command, "commands") and words and not words[0].startswith("-"):
        if words[0].isupper() or words[0].startswith("<"):  # stands for any of them
            if words[1:]:
                yield from _wrong_options(words[1:], _options_below(command), said)
            return
        if words[0].rstrip(".,") not in command.commands:
            yield f"there is no command {said} {words[0]}"
            return
        said += f" {words[0]}"
        command = command.commands[words.pop(0).rstrip(".,")]
    yield from _wrong_options(words, _options_below(command), said)


def _wrong_options(words: Sequence[str], known: set[str], said: str) -> Iterator[str]:
    for word in words:
        if re.match(r"--?[a-z]", word) and _bare(word) not in known:
            yield f"{said} has no option {_bare(word)}"


def _bare(option: str) -> str:
    return re.split(r"[=,.;:]", option)[0]


def _options_below(command: Any) -> set[str]:
    """Return the options of a command of typer's, and of those that it is a group of."""
    parameters = command.params
    own = {name for each in parameters for name in (*each.opts, *each.secondary_opts)}
    own |= {"--help", "-h"}
    return own.union(*map(_options_below, getattr(command, "commands", {}).values()))


def all_options() -> set[str]:
    """Return the options of all commands, and those of the scripts and tools that docs name."""
    scripts = (path.read_text(encoding="utf-8") for path in (ROOT / "scripts").glob("*.py"))
    flags = {flag for text in scripts for flag in re.findall(r'"(--[a-z][a-z-]*)"', text)}
    return _options_below(typer.main.get_command(app)) | flags | {"--strict"}


def _paths(code: Code) -> Iterator[str]:
    for piece in (*code.spans, *code.blocks):
        for word in re.split(r"[\s'\"(),|]+", _COMMENT.sub("", piece)):
            path = word.rstrip(".:;")
            if path.startswith(_FOLDERS) and not re.search(r"[<>*{}]|NAME", path):
                yield path


def _exists(path: str) -> bool:
    return path.startswith(_MADE) or (ROOT / path).exists()


def _modules(text: str) -> Iterator[str]:
    """Yield what is written `partdino.x.y` in code, in references and in directives."""
    for name in re.findall(r"(?:`|\[|::: |import |from )(partdino(?:\.\w+)+)", text):
        # Groups of entry points and file names look alike.
        if Path(name).suffix not in _SUFFIXES and name not in ENTRY_POINTS:
            yield name


ENTRY_POINTS = ("partdino.features", "partdino.boundaries", "partdino.regions")


def _importable(name: str) -> bool:
    parent, _, last = name.rpartition(".")
    try:
        if find_spec(name) is not None:
            return True
    except ModuleNotFoundError:
        pass
    if not parent or parent == name:
        return False
    try:
        module = __import__(parent, fromlist=[last])
    except ImportError:
        owner, _, attribute = parent.rpartition(".")
        return hasattr(getattr(__import__(owner, fromlist=[attribute]), attribute, None), last)
    return hasattr(module, last)
