"""Command-line options made from dataclasses of options: none is written twice."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import Field, fields
from functools import wraps
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import typer
from annotated_types import Interval

from partdino.options import NUMBERS, OPTION_NAMES, Options, read_config, refuse_unknown

# Of commands that take none of the method's options.
Workers = Annotated[
    int | None,
    typer.Option(min=0, max=256, help="Processes beside this one. Default: one for each core."),
]
# Of commands that label photos.
NoReview = Annotated[
    bool,
    typer.Option(
        "--no-review",
        help="Keep nothing for mending photos and splitting parts in partdino review: 14 kB a "
        "photo less.",
    ),
]

Instances = Annotated[
    bool,
    typer.Option(
        "--instances",
        help="Tell the objects of a photo apart: instances/, and a row for each in the tables.",
    ),
]
InstanceShare = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        metavar="SHARE",
        help="As --instances: a piece is an object from this share of the largest one's area on; "
        "smaller ones belong to the nearest. (default 0.25)",
    ),
]

OutlineSize = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=8192,
        metavar="PIXELS",
        help="Outlines follow the edges of the photo at up to so many pixels on its longer side; "
        "0: as fine as --region-size. (default 2048)",
    ),
]

_WIDEST = 24  # choices that are longer would be broken within a word at 80 columns


def or_auto(workers: int | None) -> int | Literal["auto"]:
    """Return the number of workers that was given, "auto" where none was."""
    return "auto" if workers is None else workers


def least_share(instances: bool, share: float | None) -> float | None:
    """Return which pieces are objects, None: they are not to be told apart."""
    from partdino.parts.instances import LEAST_SHARE

    return LEAST_SHARE if instances and share is None else share


def with_method_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add an option for every field of `Options` and ``--config``, see `with_options`."""
    return with_options(command, option_parameters(Options))


def with_options(
    command: Callable[..., None], parameters: Sequence[inspect.Parameter]
) -> Callable[..., None]:
    """Add options and ``--config`` to a command.

    Parameters
    ----------
    command
        Gets the values that were given, by name, as its argument `given`: those of the command line
        over those of the file; what neither gives is absent.
    parameters
        From `option_parameters`.
    """

    names = list(
        dict.fromkeys((*(parameter.name for parameter in parameters), *OPTION_NAMES, NUMBERS))
    )

    @wraps(command)
    def wrapped(**values: Any) -> None:
        config = values.pop("config")
        given = read_config(config) if config else {}
        refuse_unknown(given, names, str(config))
        for parameter in parameters:
            if (value := values.pop(parameter.name)) not in (None, []):
                given[parameter.name] = value
        command(given=given, **values)

    # Not `get_type_hints`: before Python 3.11 it hides the metadata of what defaults to None.
    hints = inspect.get_annotations(command, eval_str=True)
    own = [
        parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in inspect.signature(command).parameters.items()
        if name != "given"
    ]
    # What typer makes the command line from.
    everything = [*own, *parameters, _config_parameter()]
    wrapped.__signature__ = inspect.Signature(everything)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {p.name: p.annotation for p in everything}
    return wrapped


def method_parameters(*names: str) -> list[inspect.Parameter]:
    """Return a command's parameters for some fields of `Options`."""
    return option_parameters(Options, [name for name in OPTION_NAMES if name not in names])


def option_parameters(kind: type, without: Sequence[str] = ()) -> list[inspect.Parameter]:
    """Return a command's parameters for the fields of a dataclass that uses `config.option`."""
    hints = get_type_hints(kind, include_extras=True)
    return [
        _option_parameter(field, hints[field.name])
        for field in fields(kind)
        if field.metadata and field.name not in without
    ]


def _config_parameter() -> inspect.Parameter:
    option = typer.Option(
        help="YAML file of options; the command line goes over it.", rich_help_panel="Running"
    )
    return _parameter("config", Path | None, option)


def _option_parameter(field: Field, hint: Any) -> inspect.Parameter:
    kind, extra = _simplify(hint)
    help = field.metadata["help"]
    if get_origin(kind) is Literal and "metavar" in extra:
        help += f" One of {', '.join(get_args(kind))}."
    if field.default is not None:
        help += f" (default {field.default})"
    option = typer.Option(
        *(field.metadata["flags"] or [f"--{field.name.replace('_', '-')}"]),
        help=help,
        rich_help_panel=field.metadata["group"],
        show_default=False,
        **extra,
    )
    return _parameter(field.name, kind | None, option)


def _simplify(hint: Any) -> tuple[Any, dict[str, Any]]:
    """Return the plain type of a field and what typer is to check of it."""
    if get_origin(hint) in (Union, UnionType):
        members = [member for member in get_args(hint) if member is not type(None)]
        # A number or a word: text for typer, checked with the rest.
        return (str, {}) if len(members) > 1 else _simplify(members[0])
    if get_origin(hint) is list:
        kind, extra = _simplify(get_args(hint)[0])
        if get_origin(kind) is Literal:
            kind = str  # typer takes a choice alone, not in a list: checked with the rest
        return list.__class_getitem__(kind), {
            **extra,
            "metavar": "INT..." if kind is int else "NAME...",
        }
    if get_origin(hint) is Annotated:
        kind, bounds = get_args(hint)
        assert isinstance(bounds, Interval)
        return kind, {"min": bounds.ge, "max": bounds.le, "metavar": kind.__name__.upper()}
    if get_origin(hint) is Literal and len("|".join(get_args(hint))) > _WIDEST:
        return hint, {"metavar": "NAME"}
    return hint, {}


def _parameter(name: str, kind: Any, option: Any) -> inspect.Parameter:
    annotation = Annotated[kind, option]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
    )
