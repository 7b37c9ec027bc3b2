"""Functions of other people that stand for a stage: of installed packages, or given to the library.

A package offers them as entry points of the groups ``partdino.boundaries``, ``partdino.regions``
and ``partdino.features``; what is given as a function is named by its module and its own name.
Either way an option holds the name, so that workers and files of results can say what was used.
"""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal

from partdino.errors import ConfigError

Stage = Literal["boundaries", "regions", "features"]

# Functions that were passed and that no import would find: lambdas, those of a notebook.
_passed: dict[tuple[Stage, str], Callable[..., Any]] = {}


def refer(stage: Stage, function: Callable[..., Any]) -> str:
    """Return the name by which `find` finds a function that was passed.

    Raises
    ------
    ConfigError
        It has no name, such as an object with ``__call__``: pass a function.
    """
    try:
        name = f"{function.__module__}:{function.__qualname__}"
    except AttributeError as error:
        raise ConfigError(f"{stage}: {function!r} is no function; pass one with a name") from error
    if _imported(name) is not function:
        _passed[stage, name] = function
    return name


def is_local(stage: Stage, name: str) -> bool:
    """Tell whether a name stands for a function that only this process knows."""
    return (stage, name) in _passed


def names(stage: Stage) -> list[str]:
    """Return the names of what installed packages offer for a stage."""
    return sorted(point.name for point in entry_points(group=f"partdino.{stage}"))


def is_plugin(stage: Stage, name: str) -> bool:
    """Tell whether a name stands for a function of other people, without loading it."""
    return _is_reference(name) or name in names(stage)


def find(stage: Stage, name: str) -> Any:
    """Return the function, or what else a package offers, that a name stands for.

    Raises
    ------
    ConfigError
        There is no such function, or its module cannot be imported.
    """
    if is_local(stage, name):
        return _passed[stage, name]
    if _is_reference(name):
        if (function := _imported(name)) is None:
            raise ConfigError(
                f"{stage} {name} cannot be imported here: give the function itself, or define "
                "it in a module that can be imported"
            )
        return function
    point = _entry_point(stage, name)
    try:
        return point.load()
    except Exception as error:  # whatever the module of other people raises
        raise ConfigError(
            f"{stage} '{name}' of {_owner(point)} cannot be loaded "
            f"({type(error).__name__}: {error}); mend or uninstall that package"
        ) from error


def identity(stage: Stage, name: str) -> str:
    """Hash what is known of a plugin: its name, its package's version and its module's source."""
    found = find(stage, name)
    digest = hashlib.sha256(name.encode())
    if not _is_reference(name):
        digest.update(_owner(_entry_point(stage, name)).encode())
    try:
        module = inspect.getmodule(found) if callable(found) else None
        digest.update(inspect.getsource(module or found).encode())
    except (OSError, TypeError):  # of a notebook that is gone, or compiled
        digest.update(repr(getattr(found, "__qualname__", type(found))).encode())
    return digest.hexdigest()


def _entry_point(stage: Stage, name: str) -> EntryPoint:
    for point in entry_points(group=f"partdino.{stage}"):
        if point.name == name:
            return point
    raise ConfigError(f"no installed package offers {stage} '{name}'")


def _owner(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.value


def _is_reference(name: str) -> bool:
    # Not any colon: names of timm may be addresses.
    return re.fullmatch(r"[\w.]+:[\w.<>]+", name) is not None


@cache
def _imported(name: str) -> Any:
    module, _, path = name.partition(":")
    try:
        found: Any = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError):
        return None
    # The main script is another one in a worker.
    return None if module == "__main__" else found
