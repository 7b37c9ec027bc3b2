"""A finished run without running one: drawn photos whose parts are known."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from partdino.parts.result import PartSegmentation
from partdino.runs.result_log import Recorded, ResultLog
from partdino.runs.writers import LabelWriter, PartsTableWriter

K = 4
NAMES = tuple(f"{kind}/{number:02}.jpg" for kind in ("finch", "wren") for number in range(6))
SHA256 = "5a" * 32
RUN = {
    "version": "0.2.0",
    "torch": "2.14.1",
    "fingerprint": {},
    "weights": {"backbone": "efficientnet-lite2", "source": "hub", "sha256": "ab" * 32},
    "options": {
        "seed": 3,
        "foreground": "auto",
        "masks": None,
        "symmetry": "together",
        "image_size": 672,
        "boundaries": "hed",
        "regions": "watershed",
        "region_size": 448,
    },
    "parts": {"asked": "4-12", "chosen": 4, "found": 4},
    "counts": {"images": 13, "labelled": 12, "failed": 1},
}


def stripes(shift: int, without: int | None) -> np.ndarray:
    """Four upright stripes of equal width on background, uint8 (60, 90)."""
    labels = np.zeros((60, 90), np.uint8)
    for part in range(1, K + 1):
        if part != without:
            labels[10:50, shift + 15 * part - 10 : shift + 15 * part + 5] = part
    return labels


def write_run(
    folder: Path, names: Sequence[str] = NAMES, draw: Callable[[int], np.ndarray] | None = None
) -> Path:
    """Write the output folder of a run; the photos lie beside it.

    Part 4 is missing in the third photo; the last one has no object. Photos are the surer and the
    more typical the later they come.
    """
    out = folder / "out"
    log = ResultLog(
        out, {"format": "partdino results", "schema": 1, "model_sha256": SHA256, "images": 1}
    )
    out.mkdir(parents=True)
    log.begin()
    labels_of, table = LabelWriter(out), PartsTableWriter(out)
    rng = np.random.default_rng(0)
    for index, name in enumerate(names):
        labels = stripes(index % 12, 4 if index == 2 else None) if draw is None else draw(index)
        if index == len(names) - 1:
            labels = np.zeros_like(labels)
        photo = (labels[..., None] * 50 + rng.integers(0, 40, (*labels.shape, 3))).astype(np.uint8)
        path = folder / "photos" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(photo).save(path, "JPEG")
        there = np.isin(np.arange(1, K + 1), labels)
        result = PartSegmentation(
            name=name,
            label_map=labels,
            num_parts=K,
            confidence=(np.linspace(0.5, 0.9, len(names))[index] * there).astype(np.float32),
            typicality=(np.linspace(0.2, 0.8, len(names))[index] * there).astype(np.float32),
            foreground_found=bool(there.any()),
        )
        labels_of.add(result)
        table.add(result)
        image = type("Image", (), {"photo": path, "key": name})
        log.append(Recorded.of(result, image, photo_found=True))
    table.close()
    (out / "run.json").write_text(json.dumps(RUN))
    return out
