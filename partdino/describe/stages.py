"""The stages that take an image to its description, each a pure function.

::

    image --> decode --> features -----------------------------------> pooling --> ImageDescription
                 \\---> boundary map --> (flood) --> regions, cells ---/
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_matrix
from skimage.segmentation import find_boundaries

from partdino.describe.boundaries import detect_boundaries
from partdino.describe.colours import mean_colours
from partdino.describe.contrast import border_contrast, border_share
from partdino.describe.description import ImageDescription
from partdino.describe.hints import PhotoHints, hints_of
from partdino.describe.pooling import pooling_weights
from partdino.describe.regions import (
    make_regions,
    most_frequent,
    region_adjacency,
    split_into_cells,
)
from partdino.describe.regions.flood import flood
from partdino.describe.source import Source
from partdino.describe.symmetry import mirrored_features, weigh_sides
from partdino.describe.vectors import normalise
from partdino.images.masks import read_mask, resize_mask
from partdino.images.sizes import resize_image, size_of_area
from partdino.options import SettledOptions

if TYPE_CHECKING:
    from partdino.describe.features import Backbone

# Sides of the region map are multiples of this: torch keeps some memory for every size it has seen,
# and photos come in any.
_REGION_UNIT = 16
NOTHING = np.empty(0)


def _later() -> Any:
    """Declare a field that a later stage fills."""
    return field(default_factory=lambda: NOTHING)


@dataclass(frozen=True, eq=False)
class Intermediate:
    """An image on its way to a description: later fields are filled by later stages.

    `NOTHING` stands for what is not there yet, or not needed any more.
    """

    size: tuple[int, int]
    input_image: np.ndarray  # uint8, what the network sees
    image: np.ndarray  # uint8 (h, w, 3), what boundaries and regions are made of
    mask: np.ndarray | None  # bool (h, w)
    hints: PhotoHints | None
    boundary_map: np.ndarray | None = None  # float32 (h, w)
    basins: np.ndarray | None = None  # int32 (h, w), what the watershed floods, on a device
    cells: np.ndarray = _later()  # int32 (h, w)
    regions: np.ndarray = _later()  # int32 (C,)
    colours: np.ndarray = _later()  # float16 (C, 3)
    graph: tuple[np.ndarray, np.ndarray, np.ndarray] = (NOTHING,) * 3
    features: np.ndarray = _later()  # float32 (gh, gw, D)
    mirrored: np.ndarray | None = None  # float32 (gh, gw, D), see `mirrored_features`


def decode(source: Source, options: SettledOptions, side: int, unit: int) -> Intermediate:
    """Read a photo and its mask at the two sizes that the network and the regions work at.

    Parameters
    ----------
    side, unit
        The network's input: the root of its area and what its sides are multiples of, in pixels.
    """
    loaded = source.load(4 * max(side, options.region_size) ** 2)
    input_size = size_of_area(*loaded.size, side, unit, least=2)
    region_size = size_of_area(*loaded.size, options.region_size, _REGION_UNIT)
    hints = hints_of(options.hints, source.name)
    if hints is not None and options.hints is not None:
        hints.check(options.hints, loaded.size)
    return Intermediate(
        size=loaded.size,
        input_image=resize_image(loaded.pixels, input_size),
        image=resize_image(loaded.pixels, region_size),
        mask=_mask(source, options, region_size, loaded.size),
        hints=hints,
    )


def _mask(
    source: Source, options: SettledOptions, size: tuple[int, int], photo_size: tuple[int, int]
) -> np.ndarray | None:
    if source.mask is not None:
        return resize_mask(source.mask() != 0, size)
    if options.masks is None:
        return None
    return read_mask(options.masks, source.name, size, photo_size)


def detect(photos: Sequence[Intermediate], options: SettledOptions) -> list[Intermediate]:
    """Detect the boundary maps of photos of one size."""
    if options.boundaries == "none":
        return list(photos)
    images = np.stack([photo.image for photo in photos])
    maps = detect_boundaries(images, options.boundaries, options.device, options.precision)
    return [replace(photo, boundary_map=each) for photo, each in zip(photos, maps, strict=True)]


def flood_maps(photos: Sequence[Intermediate], device: str) -> list[Intermediate]:
    """Find the basins of boundary maps of one size on a device."""
    basins = flood(np.stack([np.asarray(photo.boundary_map) for photo in photos]), device)
    return [replace(photo, basins=each) for photo, each in zip(photos, basins, strict=True)]


def cut(photo: Intermediate, options: SettledOptions) -> Intermediate:
    """Cut a photo into regions and those into cells, and measure the borders between cells."""
    regions = make_regions(
        photo.image,
        photo.boundary_map,
        options.regions,
        options.region_scale,
        options.min_region,
        photo.basins,
    )
    boundary_map = photo.boundary_map
    if boundary_map is None:
        boundary_map = find_boundaries(regions).astype(np.float32)
    cells = split_into_cells(
        regions, photo.image, boundary_map, options.min_region, options.numbers
    )
    if photo.mask is not None:
        # No cell is part object, part background: the mask is followed to the pixel.
        cells, regions = (_split_by(photo.mask, labels) for labels in (cells, regions))
    return replace(
        photo,
        cells=cells,
        regions=most_frequent(regions, cells),
        colours=mean_colours(photo.image, cells),
        graph=region_adjacency(cells, boundary_map),
        image=NOTHING,
        boundary_map=None,
        basins=None,
    )


def _split_by(mask: np.ndarray, labels: np.ndarray) -> np.ndarray:
    _, split = np.unique(2 * labels + mask, return_inverse=True)
    return split.reshape(mask.shape).astype(np.int32)


def extract(
    photos: Sequence[Intermediate], backbone: Backbone, with_mirrored: bool
) -> list[Intermediate]:
    """Compute the features of photos of one input size, and those of their mirror images."""
    images = np.stack([photo.input_image for photo in photos])
    features = backbone.extract(images)
    mirrored = mirrored_features(backbone, images) if with_mirrored else [None] * len(photos)
    return [
        replace(photo, features=own, mirrored=other, input_image=NOTHING)
        for photo, own, other in zip(photos, features, mirrored, strict=True)
    ]


def pool_image(
    photo: Intermediate, options: SettledOptions, with_patches: bool
) -> ImageDescription:
    """Average the features inside each cell, and finish the description."""
    features = sideless = normalise(photo.features)
    side_weight = options.numbers.side_weight if options.symmetry == "apart" else 0.0
    if photo.mirrored is not None:
        features = normalise(weigh_sides(photo.features, photo.mirrored, side_weight))
        sideless = normalise(weigh_sides(photo.features, photo.mirrored, 0))
    weights = pooling_weights(photo.cells, features.shape[:2])
    inside = None
    if photo.mask is not None:
        inside = np.bincount(photo.cells.ravel(), photo.mask.ravel()) > 0
    edges, border_length, strength = photo.graph
    return ImageDescription(
        size=photo.size,
        cells=photo.cells,
        regions=photo.regions,
        areas=np.bincount(photo.cells.ravel()),
        features=_mean(weights, features),
        contrast=(weights @ border_contrast(sideless, options.numbers).ravel()).astype(np.float32),
        edges=edges,
        border_length=border_length,
        strength=strength.astype(np.float16),
        inside=inside,
        patches=features.astype(np.float16) if with_patches else None,
        sideless=_mean(weights, sideless) if side_weight else None,
        colours=photo.colours,
        border=border_share(photo.cells, options.numbers),
        hints=None if photo.hints is None else photo.hints.of_cells(photo.cells, photo.size),
    )


def _mean(weights: csr_matrix, features: np.ndarray) -> np.ndarray:
    return (weights @ features.reshape(-1, features.shape[2])).astype(np.float16)
