"""Where a run keeps its lists of what is behind URLs: in its folder, until it is finished."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from partdino.files import remove
from partdino.runs.resume import LISTS_FOLDER, Existing, contents


@contextmanager
def kept_lists(out: Path, existing: Existing) -> Iterator[Path]:
    """Yield the folder for the lists of a run in `out`, which `partdino.runs.lock` holds for it.

    A run that goes on finds those that it was begun with; one that is finished, or begins, has
    none.
    """
    folder = out / LISTS_FOLDER
    if existing is Existing.OVERWRITE or not contents(out):
        remove(folder)
    try:
        yield folder
    except BaseException:
        if not contents(out):
            remove(folder)
        raise
    remove(folder)
