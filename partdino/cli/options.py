"""Command-line options made from the fields of `partdino.config.Options`: none is written twice."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import Field, fields
from functools import wraps
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import typer
from annotated_types import Interval

from partdino.config import Options, read_config


def with_method_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add an option for every field of `Options` and ``--config`` to a command.

    The command gets the values that were given, by name, as its argument `given`: those of the
    command line over those of the file; what neither gives is absent.
    """

    @wraps(command)
    def wrapped(**values: Any) -> None:
        config = values.pop("config")
        given = dict(read_config(config)) if config else {}
        for field in fields(Options):
            if (value := values.pop(field.name)) is not None:
                given[field.name] = value
        command(given=given, **values)

    hints = get_type_hints(command, include_extras=True)
    own = [
        parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in inspect.signature(command).parameters.items()
        if name != "given"
    ]
    # What typer makes the command line from.
    parameters = [*own, *_method_parameters(), _config_parameter()]
    wrapped.__signature__ = inspect.Signature(parameters)
    wrapped.__annotations__ = {p.name: p.annotation for p in parameters}
    return wrapped


def _config_parameter() -> inspect.Parameter:
    option = typer.Option(
        help="YAML file of options; the command line goes over it.", rich_help_panel="Running"
    )
    return _parameter("config", Path | None, option)


def _method_parameters() -> list[inspect.Parameter]:
    hints = get_type_hints(Options, include_extras=True)
    return [_method_parameter(field, hints[field.name]) for field in fields(Options)]


def _method_parameter(field: Field, hint: Any) -> inspect.Parameter:
    kind, extra = _simplify(hint)
    help = field.metadata["help"]
    if field.default is not None:
        help += f" (default {field.default})"
    flags = [f"--{field.name.replace('_', '-')}"]
    if field.name == "parts":
        flags.append("-k")
    option = typer.Option(
        *flags, help=help, rich_help_panel=field.metadata["group"], show_default=False, **extra
    )
    return _parameter(field.name, kind | None, option)


def _simplify(hint: Any) -> tuple[Any, dict[str, Any]]:
    """Return the plain type of a field and what typer is to check of it."""
    if get_origin(hint) in (Union, UnionType):
        hint = next(member for member in get_args(hint) if member is not type(None))
    if get_origin(hint) is Annotated:
        kind, bounds = get_args(hint)
        assert isinstance(bounds, Interval)
        return kind, {"min": bounds.ge, "max": bounds.le}
    return hint, {}


def _parameter(name: str, kind: Any, option: Any) -> inspect.Parameter:
    annotation = Annotated[kind, option]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
    )
