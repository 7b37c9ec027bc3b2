"""Draw the pictures of the README and the docs: every stage of the method on the sample birds.

    python scripts/make_gallery.py [OUT]        (default: docs/pages/images)

They are computed anew, with the embedded backbone and HED on the CPU, from data/samples/birds: no
weights beyond `partdino weights pull hed` are needed. It takes a minute or two.
"""

from __future__ import annotations

import colorsys
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import cv2
import numpy as np
from PIL import Image

from partdino.describe.description import ImageDescription
from partdino.describe.features import Backbone
from partdino.describe.settling import settle
from partdino.describe.source import Source
from partdino.describe.stages import cut, decode, detect, extract, pool_image
from partdino.files import atomic_path
from partdino.options import Options, SettledOptions
from partdino.parts.fitting import fit_models
from partdino.parts.labelling import label_image
from partdino.parts.model import PartModel
from partdino.parts.projection import object_mean, principal_components
from partdino.parts.smoothing import smooth_cells
from partdino.runs.writers import write_parts_curve
from partdino.runs.writers.drawing import draw_parts

ROOT = Path(__file__).resolve().parents[1]
BIRDS = ROOT / "data" / "samples" / "birds"
DEFAULT_OUT = ROOT / "docs" / "pages" / "images"

PARTS = 6
OPTIONS = Options(parts=PARTS, backbone="efficientnet-lite2", boundaries="hed", device="cpu")
SHOWN = ("clarks_nutcracker", "canada_goose", "wedge-tailed_shearwater", "cackling_goose")
README = ("golden-cheeked_warbler", *SHOWN, "orange-crowned_warbler")
HEIGHT, GAP = 220, 4  # of a row of pictures, in pixels
GALLERY_ROW, GALLERY_WIDTH = 1250, 1000  # drawn, and as saved
QUALITY = 85


@dataclass(frozen=True, eq=False)
class Bird:
    """One photo at every stage that does not depend on the others.

    Attributes
    ----------
    photo
        uint8 (h, w, 3), what the regions are made of.
    features
        float32 (gh, gw, D).
    boundary_map
        float32 (h, w) in [0, 1].
    description
        With cells and regions.
    """

    photo: np.ndarray
    features: np.ndarray
    boundary_map: np.ndarray
    description: ImageDescription

    @property
    def cells(self) -> np.ndarray:
        """int32 (h, w)."""
        return self.description.cells

    def at_pixels(self, values: np.ndarray) -> np.ndarray:
        """Return (h, w, ...) of values (C, ...) of the cells."""
        return values[self.cells]


class Birds(dict[str, Bird]):
    """All photos by name; fitting reads their descriptions from here."""

    def read(self, key: str, pixels: bool = True) -> ImageDescription:
        """Return a description."""
        return self[key].description

    def part(self, keys: Sequence[str]) -> Birds:
        """Return what holds these at least."""
        return self


def see(path: Path, backbone: Backbone, options: SettledOptions) -> Bird:
    """Take a photo through the stages that describe it."""
    read = decode(Source(path.name, path), options, options.image_size, backbone.patch_size)
    (detected,) = detect([read], options)
    cut_up = cut(detected, options)
    (extracted,) = extract([cut_up], backbone, with_mirrored=False)
    return Bird(
        read.image,
        extracted.features,
        detected.boundary_map,
        pool_image(extracted, options, with_patches=False),
    )


class Colours:
    """Features as colours: three principal directions of a collection are red, green and blue."""

    def __init__(self, features: Iterable[np.ndarray]) -> None:
        rows = np.concatenate([each.reshape(-1, each.shape[-1]) for each in features])
        rows = rows.astype(np.float64)
        self._mean = rows.mean(axis=0)
        self._directions = principal_components(rows - self._mean, np.ones(len(rows)))[:3]
        seen = (rows - self._mean) @ self._directions.T
        self._low, self._high = np.percentile(seen, (2, 98), axis=0)

    def __call__(self, features: np.ndarray) -> np.ndarray:
        """Return uint8 (..., 3) of features (..., D)."""
        seen = (features - self._mean) @ self._directions.T
        return (255 * ((seen - self._low) / (self._high - self._low)).clip(0, 1)).astype(np.uint8)


def unit(features: np.ndarray) -> np.ndarray:
    """Return vectors (..., D) of length 1."""
    return features / np.linalg.norm(features, axis=-1, keepdims=True)


def outlined(picture: np.ndarray, labels: np.ndarray, colour: Sequence[int]) -> np.ndarray:
    """Return a picture with the borders between labels drawn on it."""
    drawn = picture.copy()
    drawn[:, :-1][labels[:, 1:] != labels[:, :-1]] = colour
    drawn[:-1][labels[1:] != labels[:-1]] = colour
    return drawn


def distinct_colours(count: int) -> np.ndarray:
    """Return uint8 (count, 3), neighbours far apart."""
    hues = np.arange(count) * 0.618034 % 1
    lightness = 0.45 + 0.25 * (np.arange(count) % 3) / 2
    colours = [colorsys.hls_to_rgb(h, x, 0.75) for h, x in zip(hues, lightness, strict=True)]
    return np.uint8(255 * np.array(colours))


def on_object(bird: Bird, inside: np.ndarray, picture: np.ndarray) -> np.ndarray:
    """Return a picture (h, w, 3) where the object is, and a grey dimmed photo elsewhere."""
    grey = cv2.cvtColor(bird.photo, cv2.COLOR_RGB2GRAY)[..., None] * np.ones(3)
    dimmed = (0.35 * grey).astype(np.uint8)
    return np.where(bird.at_pixels(inside)[..., None], picture, dimmed)


def row(pictures: Sequence[np.ndarray], height: int = HEIGHT) -> Image.Image:
    """Place pictures side by side, equally high, white between them."""
    scaled = [
        Image.fromarray(each).resize(
            (round(each.shape[1] * height / each.shape[0]), height), Image.Resampling.LANCZOS
        )
        for each in pictures
    ]
    width = sum(each.width for each in scaled) + GAP * (len(scaled) - 1)
    strip = Image.new("RGB", (width, height), "white")
    left = 0
    for each in scaled:
        strip.paste(each, (left, 0))
        left += each.width + GAP
    return strip


def stack(strips: Sequence[Image.Image], width: int | None = None) -> Image.Image:
    """Place strips below each other, all of one width."""
    width = width or strips[0].width
    scaled = [
        each.resize((width, round(each.height * width / each.width)), Image.Resampling.LANCZOS)
        for each in strips
    ]
    height = sum(each.height for each in scaled) + GAP * (len(scaled) - 1)
    picture = Image.new("RGB", (width, height), "white")
    top = 0
    for each in scaled:
        picture.paste(each, (0, top))
        top += each.height + GAP
    return picture


def save(picture: Image.Image, out: Path, name: str) -> None:
    """Write a JPEG."""
    with atomic_path(out / f"{name}.jpg") as temporary:
        picture.save(temporary, "JPEG", quality=QUALITY, optimize=True, progressive=True)


def describing_figures(birds: Sequence[Bird], colours: Colours) -> dict[str, list[np.ndarray]]:
    """Draw the stages of the image half."""
    yellow, white = (255, 225, 40), (255, 255, 255)
    figures = {"photo": [], "features": [], "boundaries": [], "regions": [], "cells": []}
    figures["pooling"] = []
    for bird in birds:
        height, width = bird.photo.shape[:2]
        patches = colours(unit(bird.features))
        edges = np.uint8(255 * (1 - bird.boundary_map))[..., None] * np.ones(3, np.uint8)
        regions = bird.at_pixels(bird.description.regions)
        figures["photo"].append(bird.photo)
        figures["features"].append(
            cv2.resize(patches, (width, height), interpolation=cv2.INTER_NEAREST)
        )
        figures["boundaries"].append(edges)
        figures["regions"].append(outlined(bird.photo, regions, yellow))
        figures["cells"].append(outlined(outlined(bird.photo, bird.cells, white), regions, yellow))
        pooled = colours(bird.description.features.astype(np.float64))
        figures["pooling"].append(bird.at_pixels(pooled))
    return figures


@dataclass(frozen=True, eq=False)
class Object:
    """What the collection half sees of a photo's object.

    Attributes
    ----------
    inside
        bool (C,), which cells it has.
    pooled, smoothed
        float64 (C, D), features before and after smoothing, less the object's own mean.
    nearest
        int (C,), the cluster of the codebook that each cell is nearest to.
    """

    inside: np.ndarray
    pooled: np.ndarray
    smoothed: np.ndarray
    nearest: np.ndarray


def find_object(bird: Bird, model: PartModel) -> Object:
    """Take a description through the stages that need the whole collection."""
    inside = model.foreground_cells(bird.description)
    smoothed = smooth_cells(bird.description, inside, model.options.numbers)
    mean = object_mean(smoothed[inside], bird.description.areas[inside])
    # Every cluster a part of its own: the nearest one is the best.
    clusters = replace(model.parts, parts=np.arange(len(model.parts.centroids)))
    nearest = clusters.similarities(smoothed, mean).argmax(axis=1)
    return Object(inside, bird.description.features - mean, smoothed - mean, nearest)


def collection_figures(
    birds: Sequence[Bird], objects: Sequence[Object], model: PartModel, colours: Colours
) -> dict[str, list[np.ndarray]]:
    """Draw the stages of the collection half; `colours` are those of features on objects."""
    figures = {"foreground": [], "unsmoothed": [], "smoothing": [], "codebook": [], "parts": []}
    clusters = distinct_colours(len(model.parts.centroids))
    for bird, found in zip(birds, objects, strict=True):
        parts = (model.parts.parts[found.nearest] + 1) * found.inside
        shown = {
            "foreground": bird.photo,
            "unsmoothed": bird.at_pixels(colours(found.pooled)),
            "smoothing": bird.at_pixels(colours(found.smoothed)),
            "codebook": bird.at_pixels(clusters[found.nearest]),
        }
        for name, picture in shown.items():
            figures[name].append(on_object(bird, found.inside, picture))
        figures["parts"].append(draw_parts(bird.photo, bird.at_pixels(parts).astype(np.uint8)))
    return figures


def draw_labels(name: str, bird: Bird, model: PartModel) -> np.ndarray:
    """Draw what a run writes as the overlay of a photo."""
    result = label_image(name, bird.description, model, photo=bird.photo)
    return draw_parts(bird.photo, result.label_map)


def gallery(birds: Birds, model: PartModel) -> Image.Image:
    """Draw every photo of the collection with its parts, in rows of about one width."""
    pictures = [draw_labels(name, bird, model) for name, bird in birds.items()]
    widths = np.array([HEIGHT * each.shape[1] / each.shape[0] for each in pictures])
    rows = max(1, round(widths.sum() / GALLERY_ROW))
    middles = widths.cumsum() - widths / 2
    places = (middles * rows / widths.sum()).astype(int)
    strips = [
        row([picture for picture, place in zip(pictures, places, strict=True) if place == number])
        for number in range(rows)
    ]
    return stack(strips, GALLERY_WIDTH)


def main(out: Path) -> None:
    """Write all pictures."""
    backbone, options, _ = settle(OPTIONS)
    birds = Birds({path.stem: see(path, backbone, options) for path in sorted(BIRDS.glob("*.jpg"))})
    models = fit_models(birds, list(birds), [PARTS, "auto"], options, backbone.weights.sha256)
    model = models[PARTS]
    objects = {name: find_object(bird, model) for name, bird in birds.items()}
    everywhere = Colours(unit(bird.features) for bird in birds.values())
    on_objects = Colours(each.pooled[each.inside] for each in objects.values() if each.inside.any())
    shown = [birds[name] for name in SHOWN]
    figures = describing_figures(shown, everywhere)
    figures |= collection_figures(shown, [objects[name] for name in SHOWN], model, on_objects)
    figures["label_map"] = [draw_labels(name, birds[name], model) for name in SHOWN]
    before = row(figures.pop("unsmoothed"))
    for name, pictures in figures.items():
        strip = row(pictures)
        save(stack([before, strip]) if name == "smoothing" else strip, out, name)
    photos = row([birds[name].photo for name in README])
    parts = row([draw_labels(name, birds[name], model) for name in README])
    save(stack([photos, parts], 1200), out, "birds")
    save(gallery(birds, model), out, "gallery")
    write_curve(models["auto"], out)


def write_curve(model: PartModel, out: Path) -> None:
    """Draw what the number of parts was chosen by."""
    with TemporaryDirectory() as folder:
        write_parts_curve(Path(folder) / "curve", model.curve)
        with Image.open(Path(folder) / "curve.png") as plot:
            plot.thumbnail((760, 760), Image.Resampling.LANCZOS)
            with atomic_path(out / "number_of_parts.png") as temporary:
                plot.convert("RGB").quantize(64).save(temporary, "PNG", optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_OUT)
