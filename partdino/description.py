"""From one image to its regions and what each of them shows: the per-image half of the method.

::

    image --> features ------------------> pooling --> ImageDescription
       \\---> boundary map --> regions -----/
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from partdino.boundaries import detect_boundaries
from partdino.clustering import normalise
from partdino.config import Options
from partdino.flow import Outcome, attempt, through
from partdino.foreground import border_contrast
from partdino.images import LoadedImage, read_image
from partdino.images.masks import read_mask, resize_mask
from partdino.pooling import pooling_weights
from partdino.regions import make_regions
from partdino.sizing import resize_image, size_of_area

if TYPE_CHECKING:
    from partdino.features import Backbone

# Sides of the region map are multiples of this: torch keeps some memory for every size it has seen,
# and photos come in any.
_REGION_UNIT = 16
_PURITY = 1.0  # how much less a patch counts that straddles a region's border


@dataclass(frozen=True)
class Source:
    """An image to describe.

    Attributes
    ----------
    name
        Unique in the run.
    image
        A path, uint8 (H, W, 3) RGB, or a function that reads the image: it is given how many pixels
        are of use, and the image is taken in the size that it returns, whatever its pixels have.
    mask
        A function that returns the object's mask, (H, W) of any size, object where not 0. None: as
        the options say.
    """

    name: str
    image: Path | np.ndarray | Callable[[int], LoadedImage]
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
    regions
        int32 (h, w), numbered 0..R-1, at the size that regions are made at.
    areas
        int64 (R,), pixels of that size.
    features
        float16 (R, D), the mean of the unit-length features in each region.
    contrast
        float32 (R,), the mean `border_contrast` in each region.
    inside
        bool (R,), which regions a given mask marks as object; None without masks.
    patches
        float16 (gh, gw, D), the unit-length features before pooling; None where left out on
        reading.
    """

    size: tuple[int, int]
    regions: np.ndarray
    areas: np.ndarray
    features: np.ndarray
    contrast: np.ndarray
    inside: np.ndarray | None = None
    patches: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class _Draft:
    """An image on its way to a description: later fields are filled by later stages."""

    size: tuple[int, int]
    input_image: np.ndarray  # uint8, what the network sees
    image: np.ndarray | None  # uint8 (h, w, 3), what boundaries and regions are made of
    mask: np.ndarray | None  # bool (h, w)
    boundary_map: np.ndarray | None = None  # float32 (h, w)
    regions: np.ndarray | None = None  # int32 (h, w)
    features: np.ndarray | None = None  # float32 (gh, gw, D)


def describe_images(
    sources: Iterable[Source], backbone: Backbone, options: Options, pool: Executor | None = None
) -> Iterator[Outcome[ImageDescription]]:
    """Describe images, in their order.

    Parameters
    ----------
    sources
        The images.
    backbone
        Where features come from.
    options
        With every "auto" resolved.
    pool
        Worker processes for decoding and regions; None does all in this process.

    Yields
    ------
    Outcome of ImageDescription
        One an image; that of a failed image holds the reason.
    """
    unit = backbone.patch_size
    side = options.image_size or backbone.default_image_size
    outcomes: Iterable[Outcome] = (Outcome(source.name, source) for source in sources)
    decode = partial(_decode, options=options, side=side, unit=unit)
    outcomes = through("decode", decode, outcomes, pool)
    outcomes = through("boundaries", partial(_detect, options=options), outcomes)
    outcomes = through("regions", partial(_cut, options=options), outcomes, pool)
    outcomes = _extract_features(outcomes, backbone, options.batch_size)
    return through("pooling", _pool, outcomes)


def _decode(source: Source, options: Options, side: int, unit: int) -> _Draft:
    loaded = source.load(4 * max(side, options.region_size) ** 2)
    input_size = size_of_area(*loaded.size, side, unit, least=2)
    region_size = size_of_area(*loaded.size, options.region_size, _REGION_UNIT)
    return _Draft(
        size=loaded.size,
        input_image=resize_image(loaded.pixels, input_size),
        image=resize_image(loaded.pixels, region_size),
        mask=_mask(source, options, region_size),
    )


def _mask(source: Source, options: Options, size: tuple[int, int]) -> np.ndarray | None:
    if source.mask is not None:
        return resize_mask(source.mask() != 0, size)
    return None if options.masks is None else read_mask(options.masks, source.name, size)


def _detect(draft: _Draft, options: Options) -> _Draft:
    if options.boundaries == "none":
        return draft
    boundary_map = detect_boundaries(draft.image, options.boundaries, options.device)
    return replace(draft, boundary_map=boundary_map)


def _cut(draft: _Draft, options: Options) -> _Draft:
    regions = make_regions(
        draft.image, draft.boundary_map, options.regions, options.region_scale, options.min_region
    )
    if draft.mask is not None:
        # No region is part object, part background: the mask is followed to the pixel.
        _, regions = np.unique(2 * regions + draft.mask, return_inverse=True)
        regions = regions.reshape(draft.mask.shape).astype(np.int32)
    # What regions are made of is not needed any more, and what a worker returns is copied.
    return replace(draft, regions=regions, image=None, boundary_map=None)


def _extract_features(
    outcomes: Iterable[Outcome[_Draft]], backbone: Backbone, batch_size: int
) -> Iterator[Outcome[_Draft]]:
    """Put images of equal size through the network together, and yield all in their order."""
    outcomes = iter(outcomes)
    # Images come in many sizes: a window of several batches finds more of the same one.
    while window := list(islice(outcomes, 4 * batch_size)):
        by_size: dict[tuple[int, ...], list[int]] = {}
        for index, outcome in enumerate(window):
            if outcome.value is not None:
                by_size.setdefault(outcome.value.input_image.shape, []).append(index)
        for indices in by_size.values():
            for start in range(0, len(indices), batch_size):
                _extract_batch(window, indices[start : start + batch_size], backbone)
        yield from window


def _extract_batch(window: list[Outcome[_Draft]], indices: list[int], backbone: Backbone) -> None:
    """Replace the outcomes at the indices by outcomes with features."""
    drafts = [window[index].value for index in indices]
    batch = Outcome("", np.stack([draft.input_image for draft in drafts]))
    batch = attempt("features", backbone.extract, batch)
    if batch.failure and len(indices) > 1:  # such as too large a batch for the memory
        for index in indices:
            _extract_batch(window, [index], backbone)
        return
    share = batch.seconds["features"] / len(indices)
    for position, (index, draft) in enumerate(zip(indices, drafts, strict=True)):
        value = None if batch.failure else replace(draft, features=batch.value[position])
        window[index] = replace(
            window[index],
            value=value,
            failure=batch.failure,
            seconds=window[index].spent("features", share),
        )


def _pool(draft: _Draft) -> ImageDescription:
    rows, columns, dim = draft.features.shape
    features = normalise(draft.features)
    weights = pooling_weights(draft.regions, (rows, columns), _PURITY)
    areas = np.bincount(draft.regions.ravel())
    inside = None
    if draft.mask is not None:
        inside = np.bincount(draft.regions.ravel(), draft.mask.ravel()) > 0
    return ImageDescription(
        size=draft.size,
        regions=draft.regions,
        areas=areas,
        features=(weights @ features.reshape(-1, dim)).astype(np.float16),
        contrast=(weights @ border_contrast(features).ravel()).astype(np.float32),
        inside=inside,
        patches=features.astype(np.float16),
    )
