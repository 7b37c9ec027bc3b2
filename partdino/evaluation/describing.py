"""Describing the images of a benchmark, each once, whatever is asked of it later."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from partdino.config import Options
from partdino.datasets import Sample
from partdino.description import describe_images
from partdino.evaluation.cache import image_key
from partdino.evaluation.sources import as_source
from partdino.flow import worker_pool
from partdino.reporting import RunLog
from partdino.store import DescriptionStore

if TYPE_CHECKING:
    from partdino.features import Backbone


def describe_samples(
    samples: Sequence[Sample],
    cache: DescriptionStore,
    backbone: Backbone,
    options: Options,
    masked: bool,
    log: RunLog,
) -> dict[Path, str]:
    """Describe what the cache lacks.

    Parameters
    ----------
    samples
        May hold an image several times.
    cache
        Of these settings.
    backbone, options
        See `describe_images`.
    masked
        Cut the images along their labelled pixels, and take these as the object.
    log
        Where failures are booked, under the samples' names.

    Returns
    -------
    dict of Path to str
        The key in the cache of every image file that could be described.
    """
    by_key = {image_key(sample): sample for sample in samples}
    missing = [key for key in by_key if key not in cache]
    log.reporter.say(
        f"Descriptions: {len(by_key) - len(missing)} of {len(by_key)} images are in {cache.folder}"
    )
    sources = (as_source(by_key[key], masked) for key in missing)
    with (
        worker_pool(options.workers if missing else 0) as pool,
        log.reporter.progress("features", len(missing)) as advance,
    ):
        outcomes = describe_images(sources, backbone, options, pool, with_patches=True)
        for key, outcome in zip(missing, outcomes, strict=True):
            if log.note(outcome):
                cache.write(key, outcome.value)
            advance(outcome.seconds)
    return {s.path: key for key, s in by_key.items() if s.name not in log.failures}
