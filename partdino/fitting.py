"""From the descriptions of all images to the fitted model: the collection half of the method.

::

    descriptions --> foreground --> part clustering --> PartModel
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from partdino.clustering import fit_parts
from partdino.config import Options
from partdino.description import ImageDescription
from partdino.errors import InputError
from partdino.foreground import fit_foreground
from partdino.model import PartModel, foreground_regions
from partdino.part_number import part_curve
from partdino.part_range import candidates
from partdino.store import DescriptionStore

# The most regions to learn from, and the most images: a larger sample moves the centroids less
# than another seed does, and memory stays bounded.
MAX_REGIONS = 200_000
MAX_IMAGES = 5_000


def fit_model(
    store: DescriptionStore, names: Sequence[str], options: Options, weights_sha256: str
) -> PartModel:
    """Fit the foreground and the parts; see `fit_models`."""
    return fit_models(store, names, options, weights_sha256, [options.parts])[options.parts]


# On one thread: the last bits depend on how many threads share a sum.
@threadpool_limits.wrap(limits=1)
def fit_models(
    store: DescriptionStore,
    names: Sequence[str],
    options: Options,
    weights_sha256: str,
    numbers: Sequence[int | str],
) -> dict[int | str, PartModel]:
    """Fit the foreground once, and the parts for each number of parts.

    Parameters
    ----------
    store
        Holds the descriptions.
    names
        The images to learn from. Of more than `MAX_IMAGES` images or `MAX_REGIONS` regions a
        sample is taken, spread evenly.
    options
        With every "auto" resolved; `numbers` replace its number of parts.
    weights_sha256
        Of the backbone.
    numbers
        Numbers of parts, K; what `candidates` takes stands for the best of these.

    Returns
    -------
    dict of int or str to PartModel
        The models by what was asked; all have the same foreground.

    Raises
    ------
    InputError
        There is no image, or no foreground in any of them.
    """
    if not names:
        raise InputError("no image could be read, so there is nothing to fit")
    sample = list(names[:: -(-len(names) // MAX_IMAGES)])
    foreground = None
    if options.foreground == "auto":
        foreground = fit_foreground(*_gather(store, sample, options.seed, _every_region)[:3])
    select = partial(foreground_regions, foreground=foreground)
    features, _, areas, images = _gather(store, sample, options.seed, select)
    if len(areas) == 0:
        raise InputError(
            "no foreground was found in any image; --foreground none takes the images as all object"
        )
    models = {}
    for asked in numbers:
        curve = None
        if isinstance(asked, str):
            curve = part_curve(features, areas, images, candidates(asked), options.seed)
        number = asked if curve is None else curve.best
        parts = fit_parts(features, areas, images, number, options.seed)
        models[asked] = PartModel(
            replace(options, parts=number), weights_sha256, parts, foreground, curve
        )
    return models


def _every_region(description: ImageDescription) -> np.ndarray:
    return np.ones(len(description.areas), bool)


def _gather(
    store: DescriptionStore,
    names: Sequence[str],
    seed: int,
    select: Callable[[ImageDescription], np.ndarray],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Gather the selected regions of all images.

    Returns features (N, D), contrast (N,), areas (N,) and the number of each region's image (N,).
    An area is a share of its image, so that every image counts alike whatever its size.
    """
    quota = MAX_REGIONS // len(names)
    rng = np.random.default_rng(seed)
    rows = []
    for number, name in enumerate(names):
        description = store.read(name, with_patches=False)
        chosen = np.flatnonzero(select(description))
        if len(chosen) > quota:
            chosen = np.sort(rng.choice(chosen, quota, replace=False))
        share = description.areas[chosen] / description.areas.sum()
        image = np.full(len(chosen), number)
        rows.append((description.features[chosen], description.contrast[chosen], share, image))
    columns = (np.concatenate(column) for column in zip(*rows, strict=True))
    features, contrast, areas, images = columns
    return features.astype(np.float32), contrast, areas, images
