"""What the tests of `partdino segment` share: small options, and how to read its output folder."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from PIL import Image

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
_COMMAND = "from partdino.cli.main import main; main()"


def flags(options: dict[str, object]) -> list[str]:
    """Return options by field name as command-line flags."""
    named = ((f"--{name.replace('_', '-')}", str(value)) for name, value in options.items())
    return [text for pair in named for text in pair]


def process(*arguments: object, before: str = "") -> subprocess.Popen:
    """Start ``partdino ARGUMENTS...`` as a process, after some lines of Python."""
    command = [sys.executable, "-c", f"{before}\n{_COMMAND}", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def files(folder: Path) -> list[str]:
    """Return the paths of all files in a folder, hidden ones too."""
    paths = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(paths)


def label_bytes(out: Path) -> dict[str, bytes]:
    """Return the content of every label PNG by the image's name."""
    labels = out / "labels"
    return {name.removesuffix(".png"): (labels / name).read_bytes() for name in files(labels)}


def label_map(out: Path, name: str) -> np.ndarray:
    """Return one label map, uint8 (H, W)."""
    return np.asarray(Image.open(out / "labels" / f"{name}.png"))


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
