"""The comparisons of a study as a table for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

_EFFECT = ("value", "low", "high")


def comparison_table(document: Mapping[str, Any]) -> Table:
    """Return the comparisons at the study's temperature."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in ("borders", "patches", "measure"):
        table.add_column(heading, no_wrap=True)
    for heading in ("n", "median", "interior", "Cliff's delta"):
        table.add_column(heading, justify="right", no_wrap=True)
    for entry in document["comparisons"]:
        if entry["temperature"] == document["temperatures"][0]:
            ours, interior = entry["straddling_patches"], entry["interior"]
            table.add_row(
                entry["definition"],
                entry["straddling"],
                entry["measure"],
                str(ours["n"]),
                _number(ours["median"], 3),
                _number(interior["median"], 3),
                effect_text(entry["effects"]["cliffs_delta"]),
            )
    return table


def notes(document: Mapping[str, Any]) -> list[str]:
    """Return the lines that a reader of the table must know."""
    interior = document["patches"]["image"]["interior"]
    return [
        f"{sum(document['patches']['image'].values()):,} foreground patches of "
        f"{document['studied_images']:,} images, {interior:,} of them interior.",
        "Delta > 0: straddling patches have larger values (95% interval over images).",
    ]


def effect_text(effect: Mapping[str, float | None]) -> str:
    """Return an effect of -1 to 1 with its interval, such as ``+.21 [+.18, +.24]``."""
    value, low, high = (_number(effect[name], 2, "+").replace("0.", ".") for name in _EFFECT)
    return f"{value} [{low}, {high}]"


def _number(value: float | None, digits: int, sign: str = "") -> str:
    if value is None:
        return "-"
    return f"{round(value, digits) + 0.0:{sign}.{digits}f}"  # no -0.00
