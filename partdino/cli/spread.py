"""Options that take several values at once, which neither typer nor click has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from typer.core import TyperCommand

IsValue = Callable[[str], bool]


def spreading(flags: Mapping[str, IsValue]) -> type[TyperCommand]:
    """Return a class of commands whose repeatable options take several values after one flag.

    ``--parts 4 8 16`` and ``--parts 4,8,16`` stand for ``--parts 4 --parts 8 --parts 16``.

    Parameters
    ----------
    flags
        Flags of these options, and what tells a further value of each from another argument.
    """

    class SpreadingCommand(TyperCommand):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            return super().parse_args(ctx, list(one_flag_a_value(args, flags)))

    return SpreadingCommand


def one_flag_a_value(arguments: Sequence[str], flags: Mapping[str, IsValue]) -> Iterator[str]:
    """Yield arguments in which every value has its own flag."""
    flag = None
    waiting = False  # for the flag's first value, whatever it is
    for argument in arguments:
        head, equals, tail = argument.partition("=")
        if head in flags:
            flag, waiting = head, True
            if not equals:
                continue
            argument = tail
        values = argument.split(",")
        if flag is not None and (waiting or all(map(flags[flag], values))):
            for value in values:
                yield from (flag, value)
            waiting = False
        else:
            flag = None
            yield argument
    if waiting and flag is not None:
        yield flag
