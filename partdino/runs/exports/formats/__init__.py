"""The formats: every module here is one, named as on the command line but for the hyphens.

A module defines ``EXPORTER``, a class of `partdino.runs.exports.exporter.Exporter`. Nothing else is
to be changed for a new one.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from partdino.errors import ConfigError

if TYPE_CHECKING:  # not for `partdino --help`, which names the formats
    from partdino.runs.exports.exporter import Exporter

NAMES = tuple(sorted(module.name.replace("_", "-") for module in iter_modules(__path__)))


def find_format(name: str) -> type[Exporter]:
    """Return the class of a format; raises `ConfigError` where there is none of that name."""
    if name not in NAMES:
        raise ConfigError(f"unknown format '{name}'; take one of: {', '.join(NAMES)}")
    return import_module(f"{__name__}.{name.replace('-', '_')}").EXPORTER
