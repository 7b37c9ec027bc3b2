"""Plots of a run, in one style; the same data give the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partdino.files import atomic_path

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#7f7f7f"  # told apart by the colour-blind, too
_STYLE: dict[Any, Any] = {"svg.hashsalt": "partdino", "font.family": "DejaVu Sans", "font.size": 10}


def write_plot(draw: Callable[[], Figure], files: Sequence[Path], title: str) -> None:
    """Write a plot in the format of each file's suffix, PNG or SVG; raises `OutputError`.

    The title is in the metadata alone: it tells the plot from files of somebody else.
    """
    from matplotlib import rc_context

    with rc_context(_STYLE):
        figure = draw()
        for file in files:
            apart = {"Date": None} if file.suffix == ".svg" else {}
            metadata = {"Title": title, **apart}
            with atomic_path(file) as temporary:
                figure.savefig(temporary, format=file.suffix[1:], dpi=150, metadata=metadata)
