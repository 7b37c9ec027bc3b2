"""What a person calls the parts of a model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_COLOUR = re.compile(r"#[0-9a-f]{6}")


@dataclass(frozen=True)
class Naming:
    """The names and colours of the K parts of a model, from the review of a run.

    Attributes
    ----------
    names
        Of parts 1 to K: no two are the same.
    colours
        Of the same, ``#rrggbb``.
    background
        Whether the clusters after those of part K are no part of the object: called background by
        the review.
    """

    names: tuple[str, ...]
    colours: tuple[str, ...]
    background: bool

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Naming:
        """Make one of what a model file holds; raises `KeyError` and `ValueError`."""
        lists = document["names"], document["colours"]
        if not all(isinstance(each, list) for each in lists):
            raise ValueError("names and colours are no lists")
        naming = cls(tuple(lists[0]), tuple(lists[1]), document["background"])
        if any(not isinstance(name, str) or not name for name in naming.names):
            raise ValueError("a name is no text")
        if len({*naming.names}) < len(naming.names) or len(naming.colours) != len(naming.names):
            raise ValueError("names and colours are not one a part")
        if not all(isinstance(c, str) and _COLOUR.fullmatch(c) for c in naming.colours):
            raise ValueError("a colour is not #rrggbb")
        if not isinstance(naming.background, bool):
            raise ValueError("background is neither true nor false")
        return naming

    def document(self) -> dict[str, Any]:
        """Return what a model file holds."""
        return {
            "names": list(self.names),
            "colours": list(self.colours),
            "background": self.background,
        }
