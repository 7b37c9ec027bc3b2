"""`partdino label`: a feature store and a model to an output folder."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from partdino.describe.photos import Photo
from partdino.describe.workers import stage_workers
from partdino.engine.outcomes import Outcome, run_stage
from partdino.engine.pool import Pool
from partdino.errors import InputError, ModelError, OutputError, OutputNameError
from partdino.files import file_sha256, write_bytes
from partdino.images import read_image
from partdino.options import RUNNING_OPTIONS
from partdino.parts.labelling import label_image
from partdino.parts.model import PartModel
from partdino.parts.model_file import load_model, save_model
from partdino.parts.result import PartSegmentation
from partdino.runs.folder import MODEL_FILE, OutputFolder, clear_images, link_image
from partdino.runs.lock import lock_folder
from partdino.runs.reporting import Reporter, RunLog, resumable
from partdino.runs.result_log import RESULTS_FILE, Recorded, ResultLog, read_results, results_head
from partdino.runs.resume import Existing, fingerprint
from partdino.runs.run_record import run_document, write_run_tables
from partdino.runs.shard import WHOLE, Shard
from partdino.runs.store import FeatureStore, StoredImage, open_stores
from partdino.runs.store.blocks import verify
from partdino.runs.writers import OutputWriters

_PHOTO_PIXELS = 1600 * 1600  # what overlays and contact sheets are drawn on


@resumable()
def label_stores(
    stores: Sequence[Path],
    out: Path,
    model_file: Path,
    reporter: Reporter,
    shard: Shard = WHOLE,
    existing: Existing = Existing.REFUSE,
    workers: int | Literal["auto"] = "auto",
    engine: Literal["local", "ray"] = "local",
) -> dict[str, Any]:
    """Label the images of a store and write every output format.

    Parameters
    ----------
    stores
        The store, or those of all shards.
    out
        The output folder.
    model_file
        The fitted model.
    reporter
        Where to say what happens.
    shard
        Which share of the images is labelled.
    existing
        What to do if `out` holds results.
    workers, engine
        Processes beside this one, and where they run; see `stage_workers`.

    Returns
    -------
    dict
        The content of `run.json`.

    Raises
    ------
    PartDinoError
        Nothing could be done at all. Single images that fail are booked in `failures.csv`.
    """
    start = time.perf_counter()
    store = open_stores(stores)
    masks = store.header.options["masks"]
    model = load_model(model_file)
    model.asked({"masks": masks} if masks else {}, str(model_file))
    _check_model(model_file, model, store)
    header = store.header
    same = fingerprint(header.identity, model.options, file_sha256(model_file), str(shard))
    with lock_folder(out):
        folder = OutputFolder(out, existing)
        images = shard.share(store.images)
        if (run := folder.finished(same)) is not None:
            if not (stale := stale_images(folder, images, reporter)):
                return run
            folder.begin_to_renew(same)
        else:
            folder.begin(same)
        log = RunLog(reporter)
        with stage_workers(workers, engine) as pool:
            if run is None:
                names = label(store, shard, model, model_file, folder.place, pool, log)
            else:
                renewed = FeatureStore(header, stale)
                names = renew(folder, renewed, images, shard, model, pool, log)
        write_run_tables(folder.place, header.options, model, names, log)
        run = run_document(header, model, same, model_file, shard, names, log, start)
        folder.finish(run)
    return run


def label(
    store: FeatureStore,
    shard: Shard,
    model: PartModel,
    model_file: Path | None,
    out: Path,
    pool: Pool | None,
    log: RunLog,
) -> list[str]:
    """Label a share of a store's images, all but those that an earlier run has labelled.

    Parameters
    ----------
    store, shard
        The images, and which share of them.
    model, model_file
        Fitted with the options and weights of the store; the file that it was read from, if any.
    out
        Where the results go.
    pool
        Worker processes, or None.
    log
        Where failures are booked.

    Returns
    -------
    list of str
        The names of the share's images.
    """
    if model_file is None:
        save_model(model, out / MODEL_FILE)
    else:  # to the byte: its hash is what resuming compares
        write_bytes(out / MODEL_FILE, model_file.read_bytes())
    images = shard.share(store.images)
    results = ResultLog(out, results_head(store.versions, out / MODEL_FILE, shard))
    if not results.is_begun():
        clear_images(out)
    done = results.begin()
    writers = OutputWriters(out)
    with log.progress("labels", len(images), done) as advance:
        recall_results(partial(results.read, done), out, writers, pool, log)
        for image, outcome in _labelled(images[done:], model, pool):
            results.append(_write(image, outcome, writers.add, log))
            advance(outcome.seconds)
    writers.close()
    warn_of_odd(log)
    return [image.name for image in images]


def stale_images(
    folder: OutputFolder, images: Sequence[StoredImage | Photo], reporter: Reporter
) -> list[Any]:
    """Return the images of a finished run whose results are not those of today, and say so.

    Those are the ones whose photo or mask has changed, and those that have failed: what was wrong
    may have been cured.

    Raises
    ------
    OutputError
        The run was one of other images.
    """
    recorded = list(read_results(folder.path / RESULTS_FILE))
    if [result.name for result in recorded] != [image.name for image in images]:
        raise OutputError(
            f"{folder.path} holds a finished run of other images; pass --overwrite to replace it "
            "or another --out"
        )
    pairs = list(zip(recorded, images, strict=True))
    changed = [i for r, i in pairs if r.failure is None and r.key not in (None, i.key)]
    failed = [i for r, i in pairs if r.failure is not None and getattr(i, "failure", None) is None]
    if any(result.key is None for result, _ in pairs if result.failure is None):
        reporter.warn(
            f"{folder.path} does not say which versions of its photos were labelled (it is of "
            "Part-DINO 0.1): whether any has changed since cannot be told"
        )
    if not changed and not failed:
        reporter.say(f"{folder.path} holds this run, finished: nothing is left to do.")
    else:
        reporter.say(
            f"{folder.path} holds this run, finished: {len(changed)} images have changed and "
            f"{len(failed)} had failed; these are done anew, with the parts that were found."
        )
    return [image for _, image in pairs if image in changed or image in failed]


def renew(
    folder: OutputFolder,
    store: FeatureStore,
    images: Sequence[StoredImage | Photo],
    shard: Shard,
    model: PartModel,
    pool: Pool | None,
    log: RunLog,
) -> list[str]:
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

    Returns
    -------
    list of str
        The names of all images.
    """
    old, place = folder.path, folder.place
    write_bytes(place / MODEL_FILE, (old / MODEL_FILE).read_bytes())
    writers = OutputWriters(place)
    renewed = {}
    with log.progress("labels", len(store.images)) as advance:
        for image, outcome in _labelled(store.images, model, pool):
            renewed[image.name] = _write(image, outcome, writers.keep, RunLog(log.reporter))
            advance(outcome.seconds)
    recorded = [renewed.get(r.name, r) for r in read_results(old / RESULTS_FILE)]
    for result in recorded:
        if result.name not in renewed:
            link_image(result.name, old, place)
    failures = {image.name: image.failure for image in store.images}
    versions = [(image.key, failures.get(image.name)) for image in images]
    results = ResultLog(place, results_head(versions, place / MODEL_FILE, shard))
    results.begin()
    for result in recorded:
        results.append(result)
    recall_results(partial(results.read, len(recorded)), place, writers, pool, log)
    writers.close()
    warn_of_odd(log)
    return [image.name for image in images]


def _labelled(
    images: Sequence[StoredImage], model: PartModel, pool: Pool | None
) -> Iterator[tuple[StoredImage, Outcome]]:
    given = (Outcome(image.name, image, image.failure) for image in _verified(images))
    outcomes = run_stage("label", partial(_label, model=model), given, pool)
    return zip(images, outcomes, strict=True)


def recall_results(
    read: Callable[[], Iterator[Recorded]],
    out: Path,
    writers: OutputWriters,
    pool: Pool | None,
    log: RunLog,
) -> None:
    """Give the results of an earlier run to the files that cover the whole run.

    Parameters
    ----------
    read
        Returns the results, from the first one, whenever it is called.
    out
        Where the label maps are.
    writers, log
        What takes the results.
    pool
        Worker processes, or None.

    Raises
    ------
    OutputError
        A label map is missing or damaged.
    """
    given = (Outcome(result.name, result, result.failure) for result in read())
    outcomes = run_stage("recall", partial(Recorded.recall, out=out.absolute()), given, pool)
    for recorded, outcome in zip(read(), outcomes, strict=True):
        if outcome.failure != recorded.failure:
            raise OutputError(f"{out / 'labels'}: {outcome.failure}; label with --overwrite")
        if log.note(outcome):
            writers.recall(outcome.result, partial(_read_photo, recorded.photo))
            _book(recorded, log)


def warn_of_odd(log: RunLog) -> None:
    """Say in one line each which images have no foreground, and which no photo any more."""
    for names, problem in (
        (log.without_foreground, "no foreground in {} images (run.json): {}"),
        (log.without_photo, "{} photos cannot be read any more, so they have no overlay: {}"),
    ):
        if names:
            more = ", ..." if len(names) > 3 else ""
            log.reporter.warn(problem.format(len(names), ", ".join(names[:3]) + more))


def _check_model(model_file: Path, model: PartModel, store: FeatureStore) -> None:
    header = store.header
    if model.weights_sha256 != header.weights["sha256"]:
        raise ModelError(f"{model_file} was fitted to features of other weights than the store's")
    for name, value in header.options.items():
        fitted = model.options.values()[name]
        if name not in RUNNING_OPTIONS and fitted != value:
            raise ModelError(
                f"{model_file} was fitted with {name} {fitted}, and the store was made with {value}"
            )
    if (numbers := model.options.numbers.describing) != header.numbers:
        raise ModelError(
            f"{model_file} was fitted with numbers {numbers}, and the store was made with "
            f"{header.numbers}"
        )


def _verified(images: Sequence[StoredImage]) -> Iterator[StoredImage]:
    """Yield images, their blocks checked: a damaged block ends the run, not the image alone."""
    for image in images:
        verify(image.block)
        yield image


def _label(image: StoredImage, model: PartModel) -> tuple[PartSegmentation, np.ndarray | None]:
    return label_image(image.name, image.read(), model), _read_photo(image.photo)


def _read_photo(path: Path | str) -> np.ndarray | None:
    try:
        return read_image(path, max_pixels=_PHOTO_PIXELS).pixels
    except InputError:
        return None


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
    _book(recorded, log)
    return recorded


def _book(recorded: Recorded, log: RunLog) -> None:
    if not recorded.foreground_found:
        log.without_foreground.append(recorded.name)
    if not recorded.photo_found:
        log.without_photo.append(recorded.name)
