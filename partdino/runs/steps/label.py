"""The step that labels the images of a store: their parts, and the files of each of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from partdino.describe.photos import Photo
from partdino.engine.outcomes import Outcome, run_stage
from partdino.engine.pool import Pool
from partdino.errors import OutputNameError
from partdino.files import write_bytes
from partdino.parts.labelling import label_image
from partdino.parts.model import PartModel
from partdino.parts.model_file import save_model
from partdino.parts.result import PartSegmentation
from partdino.runs.folder import MODEL_FILE, OutputFolder, clear_images, link_image
from partdino.runs.reporting import RunLog
from partdino.runs.result_log import RESULTS_FILE, Recorded, ResultLog, read_results, results_head
from partdino.runs.shard import Shard
from partdino.runs.steps.recall import read_photo, recall_results
from partdino.runs.store import FeatureStore, StoredImage
from partdino.runs.writers import OutputWriters


def label(
    store: FeatureStore,
    shard: Shard,
    model: PartModel,
    content: bytes | None,
    out: Path,
    pool: Pool | None,
    log: RunLog,
    for_review: bool,
) -> None:
    """Label a share of a store's images, all but those that an earlier run has labelled.

    Parameters
    ----------
    store, shard
        The images, and which share of them.
    model, content
        Fitted with the options and weights of the store; that of the file that it was read from,
        if any.
    out
        Where the results go.
    pool
        Worker processes, or None.
    log
        Where failures are booked.
    for_review
        Whether to keep what a review divides label maps by.
    """
    if content is None:
        save_model(model, out / MODEL_FILE)
    else:  # to the byte: its hash is what resuming compares
        write_bytes(out / MODEL_FILE, content)
    images = shard.share(store.images)
    results = ResultLog(out, results_head(store.versions, out / MODEL_FILE, shard))
    if not results.is_begun():
        clear_images(out)
    done = results.begin()
    writers = OutputWriters(out, store.header.notes, model.naming)
    with log.progress("labels", len(images), done) as advance:
        recall_results(partial(results.read, done), out, writers, pool, log)
        for image, outcome in _labelled(images[done:], model, pool, for_review):
            results.append(_write(image, outcome, writers.add, log))
            advance(outcome.seconds)
    writers.close()
    log.warn_of_odd()


def renew(
    folder: OutputFolder,
    store: FeatureStore,
    images: Sequence[StoredImage | Photo],
    shard: Shard,
    model: PartModel,
    pool: Pool | None,
    log: RunLog,
    for_review: bool,
) -> None:
    """Label some images of a finished run anew, and keep the results of the others.

    Parameters
    ----------
    folder
        Of the run, which `begin_to_renew` was called for.
    store
        The images that are labelled.
    images
        All images of the run, in their order.
    shard, model
        Of the run.
    pool
        Worker processes, or None.
    log
        Where failures are booked.
    for_review
        As of `label`.
    """
    old, place = folder.path, folder.place
    write_bytes(place / MODEL_FILE, (old / MODEL_FILE).read_bytes())
    writers = OutputWriters(place, store.header.notes, model.naming)
    renewed: dict[str, Recorded] = {}
    again = {image.name for image in store.images}
    for result in read_results(old / RESULTS_FILE):  # first: what is new takes no name of theirs
        if result.name not in again:
            link_image(result.name, old, place)
    with log.progress("labels", len(store.images)) as advance:
        for image, outcome in _labelled(store.images, model, pool, for_review):
            renewed[image.name] = _write(image, outcome, writers.keep, RunLog(log.reporter))
            advance(outcome.seconds)
    recorded = [renewed.get(r.name, r) for r in read_results(old / RESULTS_FILE)]
    failures = {image.name: image.failure for image in store.images}
    versions = [(image.key, failures.get(image.name)) for image in images]
    results = ResultLog(place, results_head(versions, place / MODEL_FILE, shard))
    results.begin()
    for result in recorded:
        results.append(result)
    recall_results(partial(results.read, len(recorded)), place, writers, pool, log)
    writers.close()
    log.warn_of_odd()


def _labelled(
    images: Sequence[StoredImage], model: PartModel, pool: Pool | None, for_review: bool
) -> Iterator[tuple[StoredImage, Outcome]]:
    given = (Outcome(image.name, image, image.failure) for image in _verified(images))
    label_one = partial(_label, model=model, for_review=for_review)
    outcomes = run_stage("label", label_one, given, pool)
    return zip(images, outcomes, strict=True)


def _verified(images: Sequence[StoredImage]) -> Iterator[StoredImage]:
    """Yield images, their blocks checked: a damaged block ends the run, not the image alone."""
    for image in images:
        image.verify()
        yield image


def _label(
    image: StoredImage, model: PartModel, for_review: bool
) -> tuple[PartSegmentation, np.ndarray | None]:
    result = label_image(image.name, image.read(), model, with_pieces=for_review)
    return result, read_photo(image, result.label_map.shape)


def _write(
    image: StoredImage,
    outcome: Outcome,
    write: Callable[[PartSegmentation, np.ndarray | None], None],
    log: RunLog,
) -> Recorded:
    """Write an image's files; return what is recorded of it."""
    failure = outcome.failure
    if log.note(outcome):
        start = time.perf_counter()
        result, photo = outcome.result
        try:
            write(result, photo)
        except OutputNameError as error:  # this image's alone: any other error ends the run
            failure = str(error)
            log.fail(image.name, failure)
        log.seconds["write"] += time.perf_counter() - start
    if failure is not None:
        return Recorded(image.name, str(image.photo), image.key, failure)
    recorded = Recorded.of(result, image, photo is not None)
    log.note_odd(*recorded.odd)
    return recorded
