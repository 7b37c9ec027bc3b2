"""What tests of whole runs share: small options, and how to read and end what a run writes."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from threadpoolctl import threadpool_limits

from partdino.runs.resume import LOCK_FILE

PARTS = 4
# The embedded backbone at a size that keeps a run of eight photos near a second.
SMALL = {
    "parts": PARTS,
    "backbone": "efficientnet-lite2",
    "boundaries": "none",
    "image_size": 224,
    "region_size": 128,
    "workers": 0,
}
DESCRIBING = {name: value for name, value in SMALL.items() if name != "parts"}
_COMMAND = "from partdino.cli.main import main; main()"


@contextmanager
def quick_backbone() -> Iterator[None]:
    """Load a backbone once, and leave the other cores to other tests."""
    # Not above: exports are tested where there is no torch.
    import torch

    import partdino.describe.features

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch, threadpool_limits(1):
        patch.setattr(
            partdino.describe.features,
            "load_backbone",
            lru_cache(partdino.describe.features.load_backbone),
        )
        yield
    torch.set_num_threads(threads)


def flags(options: dict[str, object]) -> list[str]:
    """Return options by field name as command-line flags."""
    named = ((f"--{name.replace('_', '-')}", str(value)) for name, value in options.items())
    return [text for pair in named for text in pair]


def process(*arguments: object, before: str = "") -> subprocess.Popen:
    """Start ``partdino ARGUMENTS...`` as a process, after some lines of Python."""
    command = [sys.executable, "-c", f"{before}\n{_COMMAND}", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def forked(run: Callable[[], object], inside: Path, at: int, action: Callable[[], object]) -> int:
    """Do something in a fork of this process before it changes its `at`-th file in a folder.

    Returns the exit code of the fork; negative: the signal that ended it.
    """
    child = os.fork()
    if child == 0:
        _before_change(inside, at, action)
        os._exit(run().code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kill() -> None:
    """End this process as nothing can prevent."""
    os.kill(os.getpid(), signal.SIGKILL)


def _before_change(inside: Path, at: int, action: Callable[[], object]) -> None:
    changes = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.link"}
    seen = 0

    def hook(event: str, arguments: tuple) -> None:
        nonlocal seen
        path = str(arguments[0]) if event in changes else ""
        if path.startswith(str(inside)) and not path.endswith(LOCK_FILE):
            reads = event == "open" and not arguments[2] & (os.O_WRONLY | os.O_RDWR)
            seen += not reads
            if seen == at and not reads:
                action()

    sys.addaudithook(hook)


def files(folder: Path) -> list[str]:
    """Return the paths of all files in a folder, hidden ones too."""
    paths = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(paths)


def content(folder: Path, *without: str) -> dict[str, bytes]:
    """Return the content of every file in a folder by its path."""
    return {name: (folder / name).read_bytes() for name in files(folder) if name not in without}


def label_bytes(out: Path) -> dict[str, bytes]:
    """Return the content of every label PNG by the image's name, as the list of results has it."""
    names = {stem: name for name, stem in stems(out).items()}
    labels = out / "labels"
    found = {name.removesuffix(".png"): (labels / name).read_bytes() for name in files(labels)}
    return {names.get(stem, stem): content for stem, content in found.items()}


def stems(out: Path) -> dict[str, str]:
    """Return what the files of each image of a run are called."""
    results = out / "results.jsonl"
    lines = results.read_bytes().splitlines()[1:] if results.is_file() else []
    recorded = map(json.loads, lines)
    return {each["name"]: each.get("file", each["name"]) for each in recorded}


def label_map(out: Path, name: str) -> np.ndarray:
    """Return one label map, uint8 (H, W)."""
    return np.asarray(Image.open(out / "labels" / f"{stems(out).get(name, name)}.png"))


def table(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def failures(out: Path) -> dict[str, str]:
    """Return the reason of every failure by the image's name."""
    return {row["file"]: row["reason"] for row in table(out / "failures.csv")}


def unfinish(out: Path) -> None:
    """Make a finished run look as if it had been killed just before its end."""
    run = json.loads((out / "run.json").read_text())
    (out / ".partdino").mkdir()
    (out / ".partdino" / "fingerprint.json").write_text(json.dumps(run["fingerprint"]))
    (out / "run.json").unlink()
