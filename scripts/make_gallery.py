"""Render the pictures of the README and the documentation from the sample birds.

    python scripts/make_gallery.py [OUT]        (default: docs/pages/images)

`birds.jpg` is what comes out; the others show one photo after each stage of the method. All of them
are of the embedded backbone and HED, on a CPU.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
from PIL import Image, ImageOps
from skimage.segmentation import mark_boundaries

from partdino import detect_boundaries
from partdino.describe.description import ImageDescription
from partdino.describe.placement import describe_images
from partdino.describe.settling import settle
from partdino.describe.source import Source
from partdino.files import atomic_path
from partdino.options import Options
from partdino.parts.fitting import fit_model
from partdino.parts.foreground import pool_regions
from partdino.parts.labelling import label_image
from partdino.parts.model import PartModel
from partdino.parts.projection import object_mean
from partdino.parts.smoothing import smooth_cells
from partdino.runs.writers.drawing import draw_parts
from partdino.runs.writers.palette import part_colours

ROOT = Path(__file__).resolve().parents[1]
BIRDS = ROOT / "data" / "samples" / "birds"
PARTS = 5
SHOWN = "clarks_nutcracker.jpg"
HEIGHT, WIDTH = 210, 1300  # of a row, and of all rows, in pixels
ROWS = (
    ("cackling_goose", "clarks_nutcracker", "golden-cheeked_warbler", "king_rail"),
    ("orange-crowned_warbler", "downy_woodpecker", "rufous_hummingbird", "canada_goose"),
    ("wedge-tailed_shearwater", "scissor-tailed_flycatcher", "american_wigeon", "wild_turkey"),
)
OPTIONS = Options(parts=PARTS, backbone="efficientnet-lite2", device="cpu")


class Store:
    """Descriptions in memory, for the fit."""

    def __init__(self, descriptions: dict[str, ImageDescription]) -> None:
        self.descriptions = descriptions

    def read(self, key: str, pixels: bool = True) -> ImageDescription:
        """Return a description."""
        return self.descriptions[key]

    def part(self, keys: object) -> Store:
        """Return this store."""
        return self


def read(name: str) -> np.ndarray:
    """Return a sample photo, uint8 (H, W, 3)."""
    return np.asarray(Image.open(BIRDS / name).convert("RGB"))


def fit() -> tuple[dict[str, ImageDescription], PartModel]:
    """Describe all birds and find their parts."""
    backbone, options, _ = settle(OPTIONS)
    sources = [Source(path.name, path) for path in sorted(BIRDS.glob("*.jpg"))]
    outcomes = describe_images(sources, backbone, options, with_patches=True)
    descriptions = {outcome.name: outcome.result for outcome in outcomes}
    model = fit_model(
        Store(descriptions), list(descriptions), PARTS, options, backbone.weights.sha256
    )
    return descriptions, model


def mosaic(descriptions: dict[str, ImageDescription], model: PartModel) -> np.ndarray:
    """Draw the parts of some birds in rows of one width."""
    rows = []
    for names in ROWS:
        drawn = []
        for name in (f"{each}.jpg" for each in names):
            labels = label_image(name, descriptions[name], model).label_map
            picture = Image.fromarray(draw_parts(read(name), labels))
            size = (round(picture.width * 2 * HEIGHT / picture.height), 2 * HEIGHT)
            drawn.append(np.asarray(picture.resize(size, Image.Resampling.LANCZOS)))
        row = Image.fromarray(np.concatenate(drawn, axis=1))
        rows.append(np.asarray(ImageOps.fit(row, (WIDTH, round(row.height * WIDTH / row.width)))))
    return np.concatenate(rows)


def as_colours(features: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Turn features (..., D) into uint8 (..., 3): three principal directions of those counted."""
    flat = features.reshape(-1, features.shape[-1]).astype(np.float64)
    centred = flat - flat[counted.ravel()].mean(axis=0)
    _, axes = np.linalg.eigh(centred[counted.ravel()].T @ centred[counted.ravel()])
    shown = centred @ axes[:, :-4:-1]
    low, high = np.percentile(shown[counted.ravel()], (2, 98), axis=0)
    return (
        (255 * ((shown - low) / (high - low)).clip(0, 1))
        .astype(np.uint8)
        .reshape(*features.shape[:-1], 3)
    )


def stages(description: ImageDescription, model: PartModel) -> dict[str, np.ndarray]:
    """Draw one photo after each stage."""
    cells = description.cells
    photo = cv2.resize(read(SHOWN), cells.shape[::-1], interpolation=cv2.INTER_AREA)
    inside = model.foreground_cells(description)
    everywhere = np.ones(len(inside), bool)
    smoothed = smooth_cells(description, inside)
    patches = description.dense
    grid = as_colours(patches, np.ones(patches.shape[:2], bool))
    boundary_map = detect_boundaries(photo)
    regions = description.regions[cells]
    _, contrast, _ = pool_regions(description)
    level = ((contrast[regions] + 1) / 3).clip(0, 1)
    mean = object_mean(smoothed[inside], description.areas[inside])
    projection = replace(model.parts, parts=np.arange(len(model.parts.parts)))
    cluster = projection.similarities(smoothed, mean).argmax(axis=1)
    hues = np.random.default_rng(3).integers(40, 255, (len(model.parts.parts), 3), dtype=np.uint8)
    grey = np.uint8(235)
    labels = label_image(SHOWN, description, model).label_map
    return {
        "photo": photo,
        "features": cv2.resize(grid, photo.shape[1::-1], interpolation=cv2.INTER_NEAREST),
        "boundary_map": np.repeat((255 * boundary_map).astype(np.uint8)[..., None], 3, axis=2),
        "regions": (255 * mark_boundaries(photo, regions, (1, 1, 0))).astype(np.uint8),
        "cells": (255 * mark_boundaries(photo, cells, (1, 1, 0))).astype(np.uint8),
        "pooling": as_colours(description.features, everywhere)[cells],
        "contrast": np.repeat((255 * level).astype(np.uint8)[..., None], 3, axis=2),
        "foreground": np.where(inside[cells][..., None], photo, photo // 5),
        "smoothing": np.where(inside[cells][..., None], as_colours(smoothed, inside)[cells], grey),
        "codebook": np.where(inside[cells][..., None], hues[cluster][cells], grey),
        "parts": part_colours()[
            cv2.resize(labels, photo.shape[1::-1], interpolation=cv2.INTER_NEAREST)
        ],
        "label_map": draw_parts(read(SHOWN), labels),
    }


def save(picture: np.ndarray, path: Path) -> None:
    """Write a JPEG."""
    with atomic_path(path) as temporary:
        Image.fromarray(picture).save(temporary, "JPEG", quality=82, optimize=True)


def main(out: Path) -> None:
    """Write all pictures."""
    descriptions, model = fit()
    save(mosaic(descriptions, model), out / "birds.jpg")
    for name, picture in stages(descriptions[SHOWN], model).items():
        save(picture, out / f"stage_{name}.jpg")
    size = sum(file.stat().st_size for file in out.glob("*.jpg"))
    print(f"{out}: {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "pages" / "images")
