"""Finished runs whose photos have every name and kind that exports may trip over."""

from __future__ import annotations

import json
import os
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image

from partdino.parts.result import PartSegmentation
from partdino.runs.result_log import Recorded, ResultLog
from partdino.runs.writers import LabelWriter

PARTS = 4
SIZE = (46, 67)  # of the upright photos
TURNED = {"turned 6.jpg": 6, "a/turned 5.jpg": 5, "turned 3.png": 3}
EMPTY = "a/empty.jpg"
NAMES = sorted(
    (
        *("=sum.jpg", 'a/b c/q"uo,te.jpg', "a/h#100%.png", "bird.2.jpg", "cmyk.jpg", "deep.png"),
        *("ä/ümläut ß.webp", "stack.tif", EMPTY, *TURNED),
    )
)


def write_run(out: Path, labels: dict[str, np.ndarray], photos: Path) -> Path:
    """Write what an export reads of a finished run."""
    log = ResultLog(out, {"format": "partdino results", "schema": 1})
    out.mkdir(parents=True)
    log.begin()
    writer = LabelWriter(out)
    for name, label_map in labels.items():
        present = np.isin(np.arange(1, PARTS + 1), label_map).astype(np.float32)
        result = PartSegmentation(
            name, label_map, PARTS, present * 0.75, present * 0.5, bool(present.any())
        )
        writer.add(result, name)
        image = SimpleNamespace(photo=photos / name, key=name)
        log.append(Recorded.of(result, image, photo_found=True))
    log.append(Recorded("broken.jpg", "broken.jpg", failure="not an image"))
    (out / "run.json").write_text(json.dumps({"fingerprint": {}}))
    return out


def make_labels(seed: int, empty: bool = False, size: tuple[int, int] = SIZE) -> np.ndarray:
    """Blobs with holes, islands and corners that touch, uint8 (H, W)."""
    rng = np.random.default_rng(seed)
    noise = cv2.GaussianBlur(rng.normal(size=(*size, PARTS + 1)).astype(np.float32), (0, 0), 2.5)
    labels = noise.argmax(axis=2).astype(np.uint8)
    labels[rng.random(size) < 0.01] = 0
    labels[rng.random(size) < 0.01] = 3
    labels[:4] = 0
    labels[-1, -1] = 1
    return np.zeros(size, np.uint8) if empty else labels


def write_photo(path: Path, orientation: int, rng: np.random.Generator) -> None:
    """Write a photo that is `SIZE` once it is turned upright."""
    path.parent.mkdir(parents=True, exist_ok=True)
    size = SIZE[::-1] if orientation >= 5 else SIZE
    coarse = rng.integers(0, 256, (6, 8, 3), dtype=np.uint8)
    pixels = cv2.resize(coarse, size[::-1], interpolation=cv2.INTER_CUBIC)
    if path.name == "deep.png":
        cv2.imencode(".png", pixels.astype(np.uint16) * 200)[1].tofile(path)
        return
    image = Image.fromarray(pixels)
    exif = Image.Exif()
    exif[0x0112] = orientation
    if path.name == "cmyk.jpg":
        image = image.convert("CMYK")
    if path.name == "stack.tif":
        image.save(path, save_all=True, append_images=[image.rotate(180)])
    else:
        image.save(path, exif=exif)


def needs(module: str) -> Any:
    """Import a tool that reads an export.

    Skip the test where it is not there, unless `PARTDINO_EXPORT_TOOLS` says that it is.
    """
    if module.split(".")[0] in os.environ.get("PARTDINO_EXPORT_TOOLS", "").split():
        return import_module(module)
    cure = "bash scripts/test_exports.sh"
    return pytest.importorskip(module, reason=f"{module}: {cure}", exc_type=ImportError)


def part_of(name: str) -> int:
    """Return the number of a part by its name."""
    return int(name.removeprefix("part_"))


def iou(mask: np.ndarray, other: np.ndarray) -> float:
    """Return the intersection over union of two areas, bool (H, W)."""
    return (mask & other).sum() / (mask | other).sum()


def is_drawn_with_its_outline(drawn: np.ndarray, mask: np.ndarray) -> bool:
    """Return whether an area is drawn as OpenCV does: pixels right and below of edges are inside.

    supervision and Ultralytics draw polygons so, whatever the polygons are.
    """
    more = np.maximum.reduce([np.roll(np.pad(mask, 1), s, (0, 1)) for s in np.ndindex(2, 2)])
    return bool((mask <= drawn).all() and (drawn <= more[1:-1, 1:-1]).all())
