"""The step that takes up the results of an earlier run: for all that covers the whole run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from partdino.describe.identity import is_replaced
from partdino.engine.outcomes import Outcome, run_stage
from partdino.engine.pool import Pool
from partdino.errors import InputError, OutputError
from partdino.images import read_image
from partdino.runs.reporting import RunLog
from partdino.runs.result_log import Recorded
from partdino.runs.store import StoredImage
from partdino.runs.writers import OutputWriters

_PHOTO_PIXELS = 1600 * 1600  # what overlays and contact sheets are drawn on


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
            size = outcome.result.label_map.shape
            writers.recall(outcome.result, partial(read_photo, recorded, size))
            log.note_odd(*recorded.odd)


def read_photo(image: StoredImage | Recorded, size: tuple[int, ...]) -> np.ndarray | None:
    """Return the pixels of a photo as overlays and contact sheets need them.

    Parameters
    ----------
    image
        Whose photo it is.
    size
        (H, W) of the photo when it was described.

    Returns
    -------
    (H, W, 3) uint8 array or None
        None where the photo cannot be read (any more), or is another one now: its parts are known
        without it.
    """
    if is_replaced(image.name, image.key, image.photo):
        return None
    try:
        loaded = read_image(image.photo, max_pixels=_PHOTO_PIXELS)
    except InputError:
        return None
    return loaded.pixels if loaded.size == size else None
