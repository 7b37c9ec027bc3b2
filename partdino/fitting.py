"""From the descriptions of all images to the fitted model: the collection half of the method.

::

    descriptions --> foreground --> part clustering --> PartModel
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np
from threadpoolctl import threadpool_limits

from partdino.clustering import codebook_size, fit_codebook
from partdino.config import Options
from partdino.description import ImageDescription
from partdino.errors import InputError
from partdino.foreground import ForegroundModel, fit_foreground
from partdino.model import PartModel, foreground_cells, pool_regions
from partdino.part_number import part_curve
from partdino.part_range import candidates
from partdino.smoothing import smooth_cells
from partdino.store import DescriptionStore, FeatureStore

# The most cells to learn from, and the most images: a larger sample moves the centroids less than
# another seed does, and memory stays bounded.
MAX_CELLS = 100_000
MAX_IMAGES = 5_000


def fit_model(
    store: DescriptionStore | FeatureStore,
    names: Sequence[str],
    options: Options,
    weights_sha256: str,
) -> PartModel:
    """Fit the foreground and the parts; see `fit_models`."""
    return fit_models(store, names, options, weights_sha256, [options.parts])[options.parts]


# On one thread: the last bits depend on how many threads share a sum.
@threadpool_limits.wrap(limits=1)
def fit_models(
    store: DescriptionStore | FeatureStore,
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
        The images to learn from. Of more than `MAX_IMAGES` images or `MAX_CELLS` cells a
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
        foreground = fit_foreground(*_gather(pool_regions, store, sample, options.seed)[:3])
    object_cells = partial(_object_cells, foreground=foreground)
    features, areas, images = _gather(object_cells, store, sample, options.seed)
    if len(areas) == 0:
        raise InputError(
            "no foreground was found in any image; --foreground none takes the images as all object"
        )
    codebook = cache(lambda size: fit_codebook(features, areas, images, size, options.seed))
    models = {}
    for asked in numbers:
        curve = None
        if isinstance(asked, str):
            curve = part_curve(features, areas, images, candidates(asked), options.seed)
        number = asked if curve is None else curve.best
        parts = codebook(codebook_size(number)).cut(number, options.seed)
        models[asked] = PartModel(
            replace(options, parts=number), weights_sha256, parts, foreground, curve
        )
    return models


def _object_cells(
    description: ImageDescription, foreground: ForegroundModel | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the smoothed features (C, D) and the areas (C,) of the object's cells."""
    inside = foreground_cells(description, foreground)
    # Of the image, so that every image counts alike whatever its size.
    areas = description.areas / description.areas.sum()
    return smooth_cells(description, inside)[inside], areas[inside]


def _gather(
    cells_of: Callable[[ImageDescription], tuple[np.ndarray, ...]],
    store: DescriptionStore | FeatureStore,
    names: Sequence[str],
    seed: int,
) -> list[np.ndarray]:
    """Gather columns of cells of all images, and the number of each cell's image (N,).

    No image gives more than its share of `MAX_CELLS`.
    """
    quota = MAX_CELLS // len(names)
    rng = np.random.default_rng(seed)
    rows = []
    for number, name in enumerate(names):
        columns = cells_of(store.read(name, pixels=False))
        count = len(columns[0])
        if count > quota:
            chosen = np.sort(rng.choice(count, quota, replace=False))
            columns = [column[chosen] for column in columns]
        rows.append((*columns, np.full(min(count, quota), number)))
    features, *others = (np.concatenate(column) for column in zip(*rows, strict=True))
    return [features.astype(np.float32), *others]
