"""`parts_curve.csv`, `.png` and `.svg`: what the number of parts was chosen by."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from partdino.files import atomic_path, write_csv

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from partdino.part_number import PartCurve

_STYLE = {"svg.hashsalt": "partdino", "font.family": "DejaVu Sans", "font.size": 10}
_BLUE, _ORANGE, _GREY = "#0072b2", "#d55e00", "#7f7f7f"  # told apart by the colour-blind, too


def write_parts_curve(out: Path, curve: PartCurve) -> None:
    """Write the table and the plot; the same curve gives the same bytes.

    Parameters
    ----------
    out
        The run's output folder.
    curve
        From `partdino.part_number.part_curve`.

    Raises
    ------
    OutputError
        A file cannot be written.
    """
    from matplotlib import rc_context

    columns = (curve.agreement, curve.chance, curve.excess, curve.spread)
    rows = (
        [number, *(f"{value:.4f}" for value in values), int(number == curve.best)]
        for number, *values in zip(curve.numbers, *columns, strict=True)
    )
    header = ["parts", "agreement", "chance", "excess", "spread", "chosen"]
    write_csv(out / "parts_curve.csv", header, rows)
    with rc_context(_STYLE):
        figure = _draw(curve)
        for suffix, metadata in (("png", {}), ("svg", {"Date": None})):
            with atomic_path(out / f"parts_curve.{suffix}") as temporary:
                figure.savefig(temporary, format=suffix, dpi=150, metadata=metadata)


def _draw(curve: PartCurve) -> Figure:
    """Draw the two agreements, and below them what the one has more than the other."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 5.6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    above.plot(curve.numbers, curve.agreement, "o-", color=_BLUE, label="these photos")
    above.plot(curve.numbers, curve.chance, "s--", color=_GREY, label="structureless data")
    above.set_ylabel("agreement of two halves (ARI)")
    above.legend(frameon=False)
    below.errorbar(curve.numbers, curve.excess, curve.spread, fmt="o-", color=_BLUE, capsize=3)
    below.set_ylabel("excess over\nstructureless data")
    below.set_xlabel("number of parts, K")
    below.xaxis.get_major_locator().set_params(integer=True)
    for axis in (above, below):
        _mark(axis, curve.best)
    figure.suptitle(f"K = {curve.best}: halves of the photos agree most beyond chance")
    return figure


def _mark(axis: Axes, best: int) -> None:
    axis.axvline(best, color=_ORANGE, linewidth=8, alpha=0.25, zorder=0)
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(axis="y", alpha=0.25)
