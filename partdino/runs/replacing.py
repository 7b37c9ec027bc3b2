"""New results that take the place of old ones only when they are whole.

They lie in a work folder until then. Two marks in it say how far it has come; whatever kills the
process meanwhile, what is there says how to go on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from partdino.errors import OutputError

WHOLE = "whole"  # a mark: the new results are whole
_MOVING = "moving"  # a mark: the old results are gone, the new ones move in


def move_in(
    work: Path,
    moves: Iterable[tuple[Path, Path]],
    remove_old: Callable[[], None],
    failure: str,
    cure: str,
) -> None:
    """Let new results take the place of the old ones; may be killed and called again.

    Parameters
    ----------
    work
        The work folder.
    moves
        Where the new ones lie and where they go, in this order.
    remove_old
        Removes the old ones; not called again once it has come to its end.
    failure, cure
        What is said before and after the reason where a file cannot be moved.

    Raises
    ------
    OutputError
        Something cannot be moved or removed.
    """
    moving = work / _MOVING
    try:
        if not moving.exists():
            remove_old()
            moving.touch()
        for source, target in moves:
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(source, target)
    except OSError as error:
        raise OutputError(f"{failure}: {error.strerror}; {cure}") from error
