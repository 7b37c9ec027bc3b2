"""The built-in region methods: every module here is one, named as on the command line.

A module defines ``METHOD``, a `RegionMethod`. Nothing else is to be changed for a new one.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from partdino.describe.regions.method import RegionMethod

NAMES = tuple(sorted(module.name for module in iter_modules(__path__)))


def built_in(name: str) -> RegionMethod:
    """Return the method of one of `NAMES`."""
    return import_module(f"{__name__}.{name}").METHOD
