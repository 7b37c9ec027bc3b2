"""The step that labels the images of a store: their parts, and the files of each of them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

import numpy as np

from partdino.engine.outcomes import Outcome, run_stage
from partdino.engine.pool import Pool
from partdino.errors import OutputNameError
from partdino.files import link, write_bytes
from partdino.parts.labelling import label_image, outline_pixels
from partdino.parts.model import PartModel
from partdino.parts.model_file import save_model
from partdino.parts.result import PartSegmentation
from partdino.runs.folder import (
    CURVE_NAME,
    MODEL_FILE,
    OutputFolder,
    clear_images,
    link_image,
)
from partdino.runs.image_names import ImageNames, Stems, image_stems, with_same_names
from partdino.runs.reporting import RunLog
from partdino.runs.result_log import (
    Recorded,
    RecordedStems,
    ResultLog,
    Results,
    results_head,
)
from partdino.runs.shard import Shard
from partdino.runs.steps.recall import read_photo, recall_kept, recall_results
from partdino.runs.store import FeatureStore, StoredImage
from partdino.runs.writers import OutputWriters, curve_files
from partdino.runs.writers.spool import Spool


@dataclass(frozen=True)
class Making:
    """What is made of every image.

    Attributes
    ----------
    model
        Fitted with the options and weights of the store.
    for_review
        Whether to keep what a review divides label maps by.
    least_share
        Which pieces are objects, see `partdino.parts.instances`; None: they are not told apart.
    outline_size
        Of the photo that outlines are refined on, its longer side; 0: they are not.
    """

    model: PartModel
    for_review: bool
    least_share: float | None
    outline_size: int

    def writers(self, out: Path, notes: Sequence[str], stems: Mapping[str, str]) -> OutputWriters:
        """Return what writes it; parameters as of `OutputWriters`."""
        instances = self.least_share is not None
        return OutputWriters(out, notes, self.model.naming, stems, instances)


def label(
    store: FeatureStore,
    shard: Shard,
    making: Making,
    content: bytes | None,
    out: Path,
    pool: Pool | None,
    log: RunLog,
) -> None:
    """Label a share of a store's images, all but those that an earlier run has labelled.

    Parameters
    ----------
    store, shard
        The images, and which share of them.
    making, content
        What is made of them; content of the file that the model was read from, if any.
    out
        Where the results go.
    pool
        Worker processes, or None.
    log
        Where failures are booked.
    """
    if content is None:
        save_model(making.model, out / MODEL_FILE)
    else:  # to the byte: its hash is what resuming compares
        write_bytes(out / MODEL_FILE, content)
    images = shard.share(store.images)
    results = ResultLog(out, results_head(store.versions, out / MODEL_FILE, shard))
    if not results.is_begun():
        clear_images(out)
    done = results.begin()
    stems = image_stems(ImageNames(store.images))
    _warn_of_shared_stems(stems, log)
    writers = making.writers(out, store.header.notes, stems)
    with log.progress("labels", len(images), done) as advance:
        recall_results(partial(results.read, done), out, making.least_share, writers, pool, log)
        for image, outcome in _labelled(images[done:], making, pool):
            results.append(_write(image, outcome, writers.add, stems, log))
            advance(outcome.seconds)
    writers.close()
    log.warn_of_odd()


def renew(
    folder: OutputFolder,
    store: FeatureStore,
    images: Sequence[Recorded],
    shard: Shard,
    making: Making,
    pool: Pool | None,
    log: RunLog,
) -> None:
    """Label some images of a finished run, new or anew, and keep the results of the others.

    Parameters
    ----------
    folder
        Of the run, which `begin_to_renew` was called for.
    store
        The images that are labelled.
    images
        All images that the run is to have, in their order: as they are recorded, except those that
        are labelled.
    shard, making
        Of the run.
    pool
        Worker processes, or None.
    log
        Where failures are booked.
    """
    old, place = folder.path, folder.place
    for file in (old / MODEL_FILE, *curve_files(old / CURVE_NAME)):
        if file.is_file():
            link(file, place / file.name)
    stems = RecordedStems(images)
    writers = making.writers(place, store.header.notes, stems)
    for image, stored in with_same_names(images, store.images):
        if stored is None:  # first: what is new takes no name of theirs
            link_image(image, old, place)
    renewed = Spool(place)
    with log.progress("labels", len(store.images)) as advance:
        for stored, outcome in _labelled(store.images, making, pool):
            each = RunLog(log.reporter, seconds=log.seconds)  # failures are booked in their order
            recorded = _write(stored, outcome, writers.keep, stems, each)
            renewed.write(f"{json.dumps(recorded.document())}\n")
            advance(outcome.seconds)
    versions = (
        (image.key or "", image.failure if stored is None else stored.failure)
        for image, stored in with_same_names(images, store.images)
    )
    results = ResultLog(place, results_head(versions, place / MODEL_FILE, shard))
    results.begin()
    lines = renewed.lines()
    for image, stored in with_same_names(images, store.images):
        results.append(image if stored is None else Recorded(**json.loads(next(lines))))
    recorded_now = Results(results.path)
    recall_kept(recorded_now, store.images, old, place, making.least_share, writers, pool, log)
    writers.close()
    log.warn_of_odd()


def _warn_of_shared_stems(stems: Stems, log: RunLog) -> None:
    whole = [
        name for name, stem in stems.longer.items() if stem == name and PurePosixPath(name).suffix
    ]
    if whole:
        more = ", ..." if len(whole) > 3 else ""
        log.reporter.warn(
            f"{len(whole)} photos have the name of another but for the suffix "
            f"({', '.join(whole[:3])}{more}): their label maps keep it, as in {whole[0]}.png"
        )


def _labelled(
    images: Sequence[StoredImage], making: Making, pool: Pool | None
) -> Iterator[tuple[StoredImage, Outcome]]:
    given = (Outcome(image.name, image, image.failure) for image in _verified(images))
    label_one = partial(_label, making=making)
    outcomes = run_stage("label", label_one, given, pool)
    return zip(images, outcomes, strict=True)


def _verified(images: Sequence[StoredImage]) -> Iterator[StoredImage]:
    """Yield images, their blocks checked: a damaged block ends the run, not the image alone."""
    for image in images:
        image.verify()
        yield image


def _label(image: StoredImage, making: Making) -> tuple[PartSegmentation, np.ndarray | None]:
    description = image.read()
    photo = fine = read_photo(image, description.size)
    pixels = outline_pixels(description, making.model, making.outline_size)
    if photo is not None and pixels != photo.shape[0] * photo.shape[1]:
        fine = read_photo(image, description.size, pixels) if pixels else None
    result = label_image(image.name, description, making.model, making.for_review, fine)
    return result.with_instances(making.least_share), photo


def _write(
    image: StoredImage,
    outcome: Outcome,
    write: Callable[[PartSegmentation, np.ndarray | None], None],
    stems: Mapping[str, str],
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
        file = stems[image.name]
        return Recorded(image.name, str(image.photo), image.key, failure, file=file)
    recorded = Recorded.of(result, image, photo is not None, stems[image.name])
    log.note_odd(*recorded.odd)
    return recorded
