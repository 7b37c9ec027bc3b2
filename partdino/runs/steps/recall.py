"""The step that takes up the results of an earlier run: for all that covers the whole run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from partdino.describe.identity import is_replaced, version_of
from partdino.engine.outcomes import Outcome, run_stage
from partdino.engine.pool import Pool
from partdino.errors import InputError, OutputError
from partdino.images import read_image
from partdino.output_marks import LABELS_FOLDER
from partdino.parts.result import PartSegmentation
from partdino.runs.image_names import with_same_names
from partdino.runs.kept import read_kept, read_label_map
from partdino.runs.reporting import RunLog
from partdino.runs.result_log import RESULTS_FILE, Recorded, Results
from partdino.runs.store import StoredImage
from partdino.runs.writers import OutputWriters
from partdino.runs.writers.kept import KeptResult

_PHOTO_PIXELS = 1600 * 1600  # what overlays and contact sheets are drawn on


def recall_results(
    read: Callable[[], Iterator[Recorded]],
    out: Path,
    least_share: float | None,
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
    least_share
        Which of their pieces are objects, see `partdino.parts.instances`; None: they are not told
        apart.
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
    recall = partial(_recall, out=out.absolute(), least_share=least_share)
    outcomes = run_stage("recall", recall, given, pool)
    for recorded, outcome in zip(read(), outcomes, strict=True):
        if outcome.failure != recorded.failure:
            raise _lost(out, outcome.failure)
        if log.note(outcome):
            size = outcome.result.label_map.shape
            writers.recall(outcome.result, partial(read_photo, recorded, size))
            log.note_odd(*recorded.odd)


def recall_kept(
    recorded: Sequence[Recorded],
    again: Sequence[StoredImage],
    old: Path,
    out: Path,
    least_share: float | None,
    writers: OutputWriters,
    pool: Pool | None,
    log: RunLog,
) -> None:
    """Give the results of a renewed run to the files that cover the whole run.

    What is kept is taken from the tables of the older run where these are as it wrote them: label
    maps and photos are then read for the contact sheet alone.

    Parameters
    ----------
    recorded
        The images of the renewed run.
    again
        Those that were labelled, in their order.
    old, out
        The output folder of the older run, and of the renewed one.
    least_share, writers, pool, log
        As of `recall_results`.

    Raises
    ------
    OutputError
        A label map is missing or damaged.
    """
    before = Results(old / RESULTS_FILE)
    try:
        for _ in read_kept(old, before):
            pass
    except OutputError:  # such as one that another tool has saved
        recall_results(lambda: iter(recorded), out, least_share, writers, pool, log)
        return
    labelled = (
        result
        for result, stored in with_same_names(recorded, again)
        if stored is not None or result.failure is not None
    )
    given = (Outcome(result.name, result, result.failure) for result in labelled)
    recall = partial(_recall, out=out.absolute(), least_share=least_share)
    outcomes = run_stage("recall", recall, given, pool)
    kept = read_kept(old, before)
    for now, stored in with_same_names(recorded, again):
        result: PartSegmentation | KeptResult
        if stored is not None or now.failure is not None:
            outcome = next(outcomes)
            if outcome.failure != now.failure:
                raise _lost(out, outcome.failure)
            if not log.note(outcome):
                continue
            result = outcome.result
        else:
            found = next(each for each in kept if each.name == now.name)
            result = replace(found, read=partial(read_label_map, now, out))
            if not (out / LABELS_FOLDER / f"{now.stem}.png").is_file():
                raise _lost(out, f"{now.stem}.png is missing")
        writers.recall(result, partial(read_photo, now, result.size))
        log.note_odd(*now.odd)


def _recall(recorded: Recorded, out: Path, least_share: float | None) -> PartSegmentation:
    return recorded.recall(out).with_instances(least_share)


def _lost(out: Path, reason: str | None) -> OutputError:
    return OutputError(f"{out / 'labels'}: {reason}; label with --overwrite")


def read_photo(
    image: StoredImage | Recorded, size: tuple[int, ...], max_pixels: int = _PHOTO_PIXELS
) -> np.ndarray | None:
    """Return the pixels of a photo as overlays and contact sheets need them.

    Parameters
    ----------
    image
        Whose photo it is.
    size
        (H, W) of the photo when it was described.
    max_pixels
        How many are of use.

    Returns
    -------
    (H, W, 3) uint8 array or None
        None where the photo cannot be read (any more), or is another one now: its parts are known
        without it.
    """
    if is_replaced(image.name, image.key, image.photo):
        return None
    try:
        version = version_of(image.name, image.key)
        loaded = read_image(image.photo, max_pixels=max_pixels, version=version)
    except InputError:
        return None
    return loaded.pixels if loaded.size == size else None
