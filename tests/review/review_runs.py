"""A finished run without running one: drawn photos whose parts are known."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

from partdino.files import file_sha256
from partdino.options import FittedOptions, validate
from partdino.parts.codebook import PartClusters
from partdino.parts.model import PartModel
from partdino.parts.model_file import save_model
from partdino.parts.pieces import Pieces
from partdino.parts.result import PartSegmentation
from partdino.runs.result_log import Recorded, ResultLog
from partdino.runs.writers import LabelWriter, PartsTableWriter, PiecesWriter

K = 4
NAMES = tuple(f"{kind}/{number:02}.jpg" for kind in ("finch", "wren") for number in range(6))
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


def pieces(labels: np.ndarray) -> Pieces:
    """Two clusters a part, above and below the middle; nine regions, in three rows."""
    row, column = np.indices(labels.shape)
    below = row >= labels.shape[0] // 2
    clusters = np.where(labels > 0, 2 * labels.astype(int) - 1 + below, 0)
    regions = row * 3 // labels.shape[0] * 3 + column * 3 // labels.shape[1]
    return Pieces(regions.astype(np.uint16), clusters.astype(np.uint16))


def write_model(path: Path) -> None:
    """Write a model of two clusters a part: of part p the axes 2p - 2 and 2p - 1."""
    axes, parts = np.eye(2 * K, dtype=np.float32), np.arange(2 * K) // 2
    clusters = PartClusters(np.zeros(2 * K, np.float32), axes, axes, parts, 0.9)
    options = FittedOptions(**{**vars(validate({"parts": K})), "backbone": "efficientnet-lite2"})
    save_model(PartModel(options, "ab" * 32, clusters, None), path)


with TemporaryDirectory() as _folder:
    write_model(Path(_folder) / "a.safetensors")
    SHA256 = file_sha256(Path(_folder) / "a.safetensors")  # of that model


def write_run(
    folder: Path,
    names: Sequence[str] = NAMES,
    draw: Callable[[int], np.ndarray] | None = None,
    least_share: float | None = None,
) -> Path:
    """Write the output folder of a run; the photos lie beside it.

    Part 4 is missing in the third photo; the last one has no object. Photos are the surer and the
    more typical the later they come. With a least share, objects are told apart.
    """
    out = folder / "out"
    out.mkdir(parents=True)
    write_model(out / "parts.safetensors")
    log = ResultLog(
        out, {"format": "partdino results", "schema": 1, "model_sha256": SHA256, "images": 1}
    )
    log.begin()
    labels_writer, table, pieces_writer = LabelWriter(out), PartsTableWriter(out), PiecesWriter(out)
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
            pieces=pieces(labels),
        ).with_instances(least_share)
        labels_writer.add(result, name)
        table.add(result)
        pieces_writer.add(result, name)
        image = type("Image", (), {"photo": path, "key": name})
        log.append(Recorded.of(result, image, photo_found=True))
    table.close()
    apart = {} if least_share is None else {"fingerprint": {"instances": least_share}}
    (out / "run.json").write_text(json.dumps({**RUN, **apart}))
    return out
