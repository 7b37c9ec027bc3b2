"""Describing the images of a benchmark, each once, whatever is asked of it later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from partdino.describe.placement import describe_images
from partdino.describe.source import Source
from partdino.describe.workers import stage_workers
from partdino.evaluation.datasets import Sample
from partdino.evaluation.methods.cache import sample_key
from partdino.evaluation.methods.sources import as_source
from partdino.options import SettledOptions
from partdino.runs.reporting import RunLog
from partdino.runs.store import DescriptionStore

if TYPE_CHECKING:
    from partdino.describe.features import Backbone


def describe_samples(
    samples: Sequence[Sample],
    cache: DescriptionStore,
    backbone: Backbone,
    options: SettledOptions,
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
    by_key = {sample_key(sample): sample for sample in samples}
    sources = {key: as_source(sample, masked) for key, sample in by_key.items()}
    describe_missing(sources, cache, backbone, options, log)
    return {s.path: key for key, s in by_key.items() if s.name not in log.failures}


def describe_missing(
    sources: Mapping[str, Source],
    cache: DescriptionStore,
    backbone: Backbone,
    options: SettledOptions,
    log: RunLog,
) -> None:
    """Describe what the cache lacks.

    Parameters
    ----------
    sources
        Images by their keys in the cache.
    cache, backbone, options, log
        See `describe_samples`.
    """
    missing = [key for key in sources if key not in cache]
    workers = options.workers if missing else 0
    log.reporter.say(
        f"Descriptions: {len(sources) - len(missing)} of {len(sources)} images are in "
        f"{cache.folder}"
    )
    with (
        stage_workers(workers, options.engine, options.device) as pool,
        log.reporter.progress("features", len(missing)) as advance,
    ):
        missing_sources = (sources[key] for key in missing)
        outcomes = describe_images(missing_sources, backbone, options, pool, with_patches=True)
        for key, outcome in zip(missing, outcomes, strict=True):
            if log.note(outcome):
                cache.write(key, outcome.result)
            advance(outcome.seconds)
