"""`partdino features`: photos to a feature store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partdino.describe.hints import unknown_sentence
from partdino.describe.photos import Photo, find_photos
from partdino.describe.placement import describe_images
from partdino.describe.settling import settle
from partdino.describe.source import Source
from partdino.describe.workers import stage_workers
from partdino.engine.pool import Pool
from partdino.errors import InputError
from partdino.options import FITTING_OPTIONS, SettledOptions, validate
from partdino.runs.image_names import ImageNames
from partdino.runs.kept_lists import kept_lists
from partdino.runs.lock import lock_folder
from partdino.runs.reporting import Reporter, RunLog, resumable
from partdino.runs.resume import Existing
from partdino.runs.shard import WHOLE, Shard
from partdino.runs.store import FeatureStore, Header, StoreWriter

if TYPE_CHECKING:
    from partdino.describe.features import Backbone


@resumable()
def make_store(
    inputs: Sequence[Path | str],
    out: Path,
    given: Mapping[str, Any],
    reporter: Reporter,
    shard: Shard = WHOLE,
    existing: Existing = Existing.REFUSE,
    lists: Path | None = None,
) -> FeatureStore:
    """Describe all images, or a shard of them, and store that.

    Parameters
    ----------
    inputs
        Folders, image files, lists of paths and URLs: for every shard the same.
    out
        The store.
    given
        Option values by name; those for fitting are left out of account.
    reporter
        Where to say what happens.
    shard
        Which share of the images is described.
    existing
        What to do if `out` holds a store.
    lists
        A folder for lists of what is behind URLs, which all shards read and which stays. None: they
        are in `out` until the store is finished.

    Raises
    ------
    PartDinoError
        Nothing could be done at all. Single images that fail are booked in the store.
    """
    log = RunLog(reporter)
    asked = validate(_without_fitting(given))
    with lock_folder(out), kept_lists(out, existing) as own:
        writer = StoreWriter(out, existing)
        photos, unread = find_photos(inputs, out, asked.masks, asked.hints, lists or own)
        log.note_unread(unread)
        warn_of_hints(asked.hints, photos, log)
        backbone, options, notes = settle(asked, reporter.say, reporter.warn)
        header = Header.of(ImageNames(photos.files), options, backbone, notes, shard)
        where = (options.workers, options.engine, options.device)
        with stage_workers(*where, reporter.warn) as pool:
            store = describe(photos, writer, header, backbone, options, pool, log)
        if shard.count == 1:
            with writer.sparing_older():
                check_any(store, out if writer.folder == out else None)
        return writer.publish()


def describe(
    photos: Sequence[Photo],
    writer: StoreWriter,
    header: Header,
    backbone: Backbone,
    options: SettledOptions,
    pool: Pool | None,
    log: RunLog,
) -> FeatureStore:
    """Describe what a store lacks and return the store.

    Parameters
    ----------
    photos
        The collection, of all shards.
    writer, header
        Of the store.
    backbone, options
        See `describe_images`.
    pool
        Worker processes, or None.
    log
        Where failures are booked.
    """
    missing = writer.begin(photos, header)
    if writer.dropped:
        log.reporter.warn(f"{writer.dropped} images are not in INPUT any more: they are left out")
    if writer.changed:
        log.reporter.say(
            f"{writer.changed} images have changed, or their masks or hints: described anew."
        )
    total = len(header.share(photos))
    if len(missing) < total:
        log.reporter.say(f"Resuming: {total - len(missing)} images are described already.")
    sources = (Source(photo.name, photo.image) for _, photo in missing)
    outcomes = describe_images(sources, backbone, options, pool)
    with log.progress("features", total, total - len(missing)) as advance:
        for (block, photo), outcome in zip(missing, outcomes, strict=True):
            if log.note(outcome):
                writer.add(block, photo, outcome.result)
            else:
                writer.fail(block, photo, outcome.failure or "")
            advance(outcome.seconds)
    return writer.finish()


def check_any(store: FeatureStore, out: Path | None) -> None:
    """Raise `InputError` where a store holds nothing but failures.

    Parameters
    ----------
    store
        Of the run.
    out
        Where `failures.csv` lists them; None where older results stay.
    """
    if not store.keys:
        if out is not None:
            store.write_failures(out)
        first = store.images[0]
        listed = "" if out is None else f" ({out / 'failures.csv'})"
        raise InputError(
            f"none of the {len(store.images)} images could be read{listed}; the first: "
            f"{first.name}: {first.failure}"
        )


def warn_of_hints(hints: Path | None, photos: Sequence[Photo], log: RunLog) -> None:
    """Warn of hints for what is none of the photos; raises `InputError` as of `read_hints`."""
    if sentence := unknown_sentence(hints, (photo.name for photo in photos)):
        log.reporter.warn(sentence)


def _without_fitting(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name not in FITTING_OPTIONS}
