"""From one image to its regions and what each of them shows: the per-image half of the method.

::

    image --> features ---------------------------> pooling --> ImageDescription
       \\---> boundary map --> regions --> cells ---/
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix
from skimage.segmentation import find_boundaries

from partdino.batching import BatchStage, in_batches, in_windows
from partdino.boundaries import detect_boundaries
from partdino.config import Options
from partdino.flow import Outcome, through, through_all
from partdino.foreground import border_contrast
from partdino.images import LoadedImage, read_image
from partdino.images.masks import read_mask, resize_mask
from partdino.kmeans import normalise
from partdino.pooling import pooling_weights
from partdino.regions import make_regions, most_frequent, region_adjacency, split_into_cells
from partdino.regions.flood import flood
from partdino.sizing import resize_image, size_of_area
from partdino.symmetry import SIDE_WEIGHTS, mirrored_features, weigh_sides
from partdino.workers import Pool

if TYPE_CHECKING:
    from partdino.features import Backbone

# Sides of the region map are multiples of this: torch keeps some memory for every size it has seen,
# and photos come in any.
_REGION_UNIT = 16


@dataclass(frozen=True)
class Source:
    """An image to describe.

    Attributes
    ----------
    name
        Unique in the run.
    image
        A path or URL, uint8 (H, W, 3) RGB, or a function that reads the image: it is given how many
        pixels are of use, and the image is taken in the size that it returns, whatever its pixels
        have.
    mask
        A function that returns the object's mask, (H, W) of any size, object where not 0. None: as
        the options say.
    """

    name: str
    image: Path | str | np.ndarray | Callable[[int], LoadedImage]
    mask: Callable[[], np.ndarray] | None = None

    def load(self, max_pixels: int) -> LoadedImage:
        """Read the image, at no more than this many pixels if it is not in memory already."""
        if isinstance(self.image, np.ndarray):
            return LoadedImage(self.image, self.image.shape[:2])
        return (
            self.image(max_pixels) if callable(self.image) else read_image(self.image, max_pixels)
        )


@dataclass(frozen=True, eq=False)
class ImageDescription:
    """All that clustering and labelling need to know of an image.

    Attributes
    ----------
    size
        (H, W) of the original, upright.
    cells
        int32 (h, w), numbered 0..C-1, the cell of every pixel at the size that regions are made at.
    regions
        int32 (C,), the region that each cell is (mostly) cut from.
    areas
        int64 (C,), pixels of that size.
    features
        float16 (C, D), the mean of the unit-length features in each cell.
    contrast
        float32 (C,), the mean `border_contrast` in each cell.
    edges, border_length, strength
        The graph of the cells: int32 (E, 2), int32 (E,) and float16 (E,), see `region_adjacency`.
        Without a boundary map, the strength is the share of the border between two regions.
    inside
        bool (C,), which cells a given mask marks as object; None without masks.
    patches
        float16 (gh, gw, D), the unit-length features before pooling; None unless asked for.
    sideless
        float16 (C, D), as `features` but alike on both sides of the object; None where `features`
        do not amplify the sides.
    """

    size: tuple[int, int]
    cells: np.ndarray
    regions: np.ndarray
    areas: np.ndarray
    features: np.ndarray
    contrast: np.ndarray
    edges: np.ndarray
    border_length: np.ndarray
    strength: np.ndarray
    inside: np.ndarray | None = None
    patches: np.ndarray | None = None
    sideless: np.ndarray | None = None

    @property
    def foreground_features(self) -> np.ndarray:
        """float16 (C, D), what tells object from background, on whichever side of the image."""
        return self.features if self.sideless is None else self.sideless


@dataclass(frozen=True, eq=False)
class _Draft:
    """An image on its way to a description: later fields are filled by later stages."""

    size: tuple[int, int]
    input_image: np.ndarray | None  # uint8, what the network sees
    image: np.ndarray | None  # uint8 (h, w, 3), what boundaries and regions are made of
    mask: np.ndarray | None  # bool (h, w)
    boundary_map: np.ndarray | None = None  # float32 (h, w)
    cells: np.ndarray | None = None  # int32 (h, w)
    basins: np.ndarray | None = None  # int32 (h, w), what the watershed floods, on a device
    regions: np.ndarray | None = None  # int32 (C,)
    graph: tuple[np.ndarray, ...] | None = None
    features: np.ndarray | None = None  # float32 (gh, gw, D)
    mirrored: np.ndarray | None = None  # float32 (gh, gw, D), see `mirrored_features`


def describe_images(
    sources: Iterable[Source],
    backbone: Backbone,
    options: Options,
    pool: Pool | None = None,
    with_patches: bool = False,
) -> Iterator[Outcome[ImageDescription]]:
    """Describe images, in their order; the same whatever the batch size and the pool.

    Where the networks run on the CPU, a worker takes an image through all stages. An accelerator
    takes images in batches in this process, while workers decode others and cut and pool those
    that come back from it. On a Ray cluster each worker has one, and takes some batches at a time
    through all stages.

    Parameters
    ----------
    sources
        The images.
    backbone
        Where features come from.
    options
        With every "auto" resolved.
    pool
        Worker processes; None does all in this process.
    with_patches
        Keep the features before pooling, too: they are large, and only comparisons need them.

    Yields
    ------
    Outcome of ImageDescription
        One an image; that of a failed image holds the reason.
    """
    if options.device == "cpu":
        place = _on_workers
    else:
        place = _on_devices if options.engine == "ray" and pool else _on_device
    pooling = partial(_pool, symmetry=options.symmetry, with_patches=with_patches)
    return place(sources, backbone, options, pool, pooling)


def _on_workers(
    sources: Iterable[Source],
    backbone: Backbone,
    options: Options,
    pool: Pool | None,
    pooling: Callable[[_Draft], ImageDescription],
) -> Iterator[Outcome[ImageDescription]]:
    stages = {
        "decode": _decoder(backbone, options),
        "boundaries": partial(_alone, function=partial(_detect, options=options)),
        "regions": partial(_cut, options=options),
        "features": partial(_alone, function=_extractor(backbone, options)),
        "pooling": pooling,
    }
    return through_all(stages, _begin(sources), pool)


def _on_device(
    sources: Iterable[Source],
    backbone: Backbone,
    options: Options,
    pool: Pool | None,
    pooling: Callable[[_Draft], ImageDescription],
) -> Iterator[Outcome[ImageDescription]]:
    detect, extract = partial(_detect, options=options), _extractor(backbone, options)
    size = options.batch_size
    here = [BatchStage("features", extract, lambda draft: draft.input_image.shape, size)]
    after = {"regions": partial(_cut, options=options), "pooling": pooling}
    if options.boundaries == "hed":
        here.append(BatchStage("boundaries", detect, lambda draft: draft.image.shape, size))
        if options.regions == "watershed":
            flooded = partial(_flood, device=options.device)
            here.append(BatchStage("flood", flooded, lambda draft: draft.image.shape, size))
    else:
        after = {"boundaries": partial(_alone, function=detect), **after}
    outcomes = through("decode", _decoder(backbone, options), _begin(sources), pool)
    return through_all(after, in_batches(here, outcomes), pool)


def _on_devices(
    sources: Iterable[Source],
    backbone: Backbone,
    options: Options,
    pool: Pool,
    pooling: Callable[[_Draft], ImageDescription],
) -> Iterator[Outcome[ImageDescription]]:
    describe = partial(_describe_window, backbone=backbone, options=options, pooling=pooling)
    return in_windows(describe, sources, options.batch_size, pool)


def _describe_window(
    sources: Sequence[Source],
    backbone: Backbone,
    options: Options,
    pooling: Callable[[_Draft], ImageDescription],
) -> list[Outcome[ImageDescription]]:
    return list(_on_device(sources, backbone, options, None, pooling))


def _begin(sources: Iterable[Source]) -> Iterator[Outcome[Source]]:
    return (Outcome(source.name, source) for source in sources)


def _decoder(backbone: Backbone, options: Options) -> Callable[[Source], _Draft]:
    side = options.image_size or backbone.default_image_size
    return partial(_decode, options=options, side=side, unit=backbone.patch_size)


def _alone(draft: _Draft, function: Callable[[list[_Draft]], list[_Draft]]) -> _Draft:
    """Apply to one draft a stage that takes several."""
    (result,) = function([draft])
    return result


def _decode(source: Source, options: Options, side: int, unit: int) -> _Draft:
    loaded = source.load(4 * max(side, options.region_size) ** 2)
    input_size = size_of_area(*loaded.size, side, unit, least=2)
    region_size = size_of_area(*loaded.size, options.region_size, _REGION_UNIT)
    return _Draft(
        size=loaded.size,
        input_image=resize_image(loaded.pixels, input_size),
        image=resize_image(loaded.pixels, region_size),
        mask=_mask(source, options, region_size, loaded.size),
    )


def _mask(
    source: Source, options: Options, size: tuple[int, int], photo_size: tuple[int, int]
) -> np.ndarray | None:
    if source.mask is not None:
        return resize_mask(source.mask() != 0, size)
    if options.masks is None:
        return None
    return read_mask(options.masks, source.name, size, photo_size)


def _detect(drafts: list[_Draft], options: Options) -> list[_Draft]:
    if options.boundaries == "none":
        return drafts
    images = np.stack([draft.image for draft in drafts])
    maps = detect_boundaries(images, options.boundaries, options.device, options.precision)
    return [replace(d, boundary_map=each) for d, each in zip(drafts, maps, strict=True)]


def _flood(drafts: list[_Draft], device: str) -> list[_Draft]:
    basins = flood(np.stack([draft.boundary_map for draft in drafts]), device)
    return [replace(draft, basins=each) for draft, each in zip(drafts, basins, strict=True)]


def _cut(draft: _Draft, options: Options) -> _Draft:
    regions = make_regions(
        draft.image,
        draft.boundary_map,
        options.regions,
        options.region_scale,
        options.min_region,
        draft.basins,
    )
    boundary_map = draft.boundary_map
    if boundary_map is None:
        boundary_map = find_boundaries(regions).astype(np.float32)
    cells = split_into_cells(regions, draft.image, boundary_map, options.min_region)
    if draft.mask is not None:
        # No cell is part object, part background: the mask is followed to the pixel.
        cells, regions = (_split_by(draft.mask, labels) for labels in (cells, regions))
    return replace(
        draft,
        cells=cells,
        regions=most_frequent(regions, cells),
        graph=region_adjacency(cells, boundary_map),
        image=None,
        boundary_map=None,
        basins=None,
    )


def _split_by(mask: np.ndarray, labels: np.ndarray) -> np.ndarray:
    _, split = np.unique(2 * labels + mask, return_inverse=True)
    return split.reshape(mask.shape).astype(np.int32)


def _extractor(backbone: Backbone, options: Options) -> Callable[[list[_Draft]], list[_Draft]]:
    return partial(_extract, backbone=backbone, with_mirrored=options.symmetry != "auto")


def _extract(drafts: list[_Draft], backbone: Backbone, with_mirrored: bool) -> list[_Draft]:
    images = np.stack([draft.input_image for draft in drafts])
    features = backbone.extract(images)
    mirrored = mirrored_features(backbone, images) if with_mirrored else [None] * len(drafts)
    return [
        replace(draft, features=own, mirrored=other, input_image=None)
        for draft, own, other in zip(drafts, features, mirrored, strict=True)
    ]


def _pool(draft: _Draft, symmetry: str, with_patches: bool) -> ImageDescription:
    features = sideless = normalise(draft.features)
    if draft.mirrored is not None:
        pair = draft.features, draft.mirrored
        features = normalise(weigh_sides(*pair, SIDE_WEIGHTS[symmetry]))
        sideless = normalise(weigh_sides(*pair, 0))
    weights = pooling_weights(draft.cells, features.shape[:2])
    inside = None
    if draft.mask is not None:
        inside = np.bincount(draft.cells.ravel(), draft.mask.ravel()) > 0
    edges, border_length, strength = draft.graph
    return ImageDescription(
        size=draft.size,
        cells=draft.cells,
        regions=draft.regions,
        areas=np.bincount(draft.cells.ravel()),
        features=_mean(weights, features),
        contrast=(weights @ border_contrast(sideless).ravel()).astype(np.float32),
        edges=edges,
        border_length=border_length,
        strength=strength.astype(np.float16),
        inside=inside,
        patches=features.astype(np.float16) if with_patches else None,
        sideless=_mean(weights, sideless) if SIDE_WEIGHTS.get(symmetry) else None,
    )


def _mean(weights: csr_matrix, features: np.ndarray) -> np.ndarray:
    return (weights @ features.reshape(-1, features.shape[2])).astype(np.float16)
