"""Where the stages of a description run: in worker processes, on a device, or on many.

The description is the same wherever it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from partdino.describe.description import ImageDescription
from partdino.describe.source import Source
from partdino.describe.stages import (
    Intermediate,
    cut,
    decode,
    detect,
    extract,
    flood_maps,
    pool_image,
)
from partdino.engine.batches import BatchStage, in_batches, in_windows
from partdino.engine.outcomes import Outcome, run_stage, run_stages
from partdino.engine.pool import Pool
from partdino.options import SettledOptions

if TYPE_CHECKING:
    from partdino.describe.features import Backbone


def describe_images(
    sources: Iterable[Source],
    backbone: Backbone,
    options: SettledOptions,
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
        Settled ones.
    pool
        Worker processes; None does all in this process.
    with_patches
        Keep the features before pooling, too: they are large, and only comparisons need them.

    Yields
    ------
    Outcome of ImageDescription
        One an image; that of a failed image holds the reason.
    """
    pooling = partial(pool_image, options=options, with_patches=with_patches)
    if options.device == "cpu":
        return _on_workers(sources, backbone, options, pool, pooling)
    if options.engine == "ray" and pool is not None:
        return _on_devices(sources, backbone, options, pool, pooling)
    return _on_device(sources, backbone, options, pool, pooling)


def _on_workers(
    sources: Iterable[Source],
    backbone: Backbone,
    options: SettledOptions,
    pool: Pool | None,
    pooling: Callable[[Intermediate], ImageDescription],
) -> Iterator[Outcome[ImageDescription]]:
    stages: dict[str, Callable[[Any], Any]] = {
        "decode": _decoder(backbone, options),
        "boundaries": partial(_single, function=partial(detect, options=options)),
        "regions": partial(cut, options=options),
        "features": partial(_single, function=_extractor(backbone, options)),
        "pooling": pooling,
    }
    return run_stages(stages, _begin(sources), pool)


def _on_device(
    sources: Iterable[Source],
    backbone: Backbone,
    options: SettledOptions,
    pool: Pool | None,
    pooling: Callable[[Intermediate], ImageDescription],
) -> Iterator[Outcome[ImageDescription]]:
    detect_all, extract_all = partial(detect, options=options), _extractor(backbone, options)
    size = options.batch_size
    here = [BatchStage("features", extract_all, lambda photo: photo.input_image.shape, size)]
    after: dict[str, Callable[[Any], Any]] = {
        "regions": partial(cut, options=options),
        "pooling": pooling,
    }
    if options.boundaries == "hed":
        here.append(BatchStage("boundaries", detect_all, lambda photo: photo.image.shape, size))
        if options.regions == "watershed":
            flooded = partial(flood_maps, device=options.device)
            here.append(BatchStage("flood", flooded, lambda photo: photo.image.shape, size))
    else:
        after = {"boundaries": partial(_single, function=detect_all), **after}
    outcomes = run_stage("decode", _decoder(backbone, options), _begin(sources), pool)
    return run_stages(after, in_batches(here, outcomes), pool)


def _on_devices(
    sources: Iterable[Source],
    backbone: Backbone,
    options: SettledOptions,
    pool: Pool,
    pooling: Callable[[Intermediate], ImageDescription],
) -> Iterator[Outcome[ImageDescription]]:
    describe = partial(_describe_window, backbone=backbone, options=options, pooling=pooling)
    return in_windows(describe, sources, options.batch_size, pool)


def _describe_window(
    sources: Sequence[Source],
    backbone: Backbone,
    options: SettledOptions,
    pooling: Callable[[Intermediate], ImageDescription],
) -> list[Outcome[ImageDescription]]:
    return list(_on_device(sources, backbone, options, None, pooling))


def _begin(sources: Iterable[Source]) -> Iterator[Outcome[Source]]:
    return (Outcome(source.name, source) for source in sources)


def _decoder(backbone: Backbone, options: SettledOptions) -> Callable[[Source], Intermediate]:
    side = options.image_size or backbone.default_image_size
    return partial(decode, options=options, side=side, unit=backbone.patch_size)


def _extractor(
    backbone: Backbone, options: SettledOptions
) -> Callable[[list[Intermediate]], list[Intermediate]]:
    return partial(extract, backbone=backbone, with_mirrored=options.symmetry != "auto")


def _single(
    photo: Intermediate, function: Callable[[list[Intermediate]], list[Intermediate]]
) -> Intermediate:
    """Apply to one photo a stage that takes several."""
    (result,) = function([photo])
    return result
