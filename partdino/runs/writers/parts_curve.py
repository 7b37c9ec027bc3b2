"""`parts_curve.csv`, `.png` and `.svg`: what the number of parts was chosen by."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from partdino.files import write_csv
from partdino.output_marks import CURVE_TITLE
from partdino.runs.writers.plots import BLUE, GREY, ORANGE, write_plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from partdino.parts.part_number import PartCurve


def curve_files(path: Path) -> list[Path]:
    """Return the table, the PNG and the SVG that `write_parts_curve` writes."""
    return [path.with_name(f"{path.name}.{suffix}") for suffix in ("csv", "png", "svg")]


def write_parts_curve(path: Path, curve: PartCurve | None) -> None:
    """Write the table and the plot; the same curve gives the same bytes.

    Parameters
    ----------
    path
        Without the suffix.
    curve
        From `partdino.parts.part_number.part_curve`; for None nothing is written.

    Raises
    ------
    OutputError
        A file cannot be written.
    """
    if curve is None:
        return
    columns = (curve.agreement, curve.spread, curve.chance, curve.score)
    rows = (
        [number, *(f"{value:.4f}" for value in values), int(number == curve.best)]
        for number, *values in zip(curve.numbers, *columns, strict=True)
    )
    header = ["parts", "agreement", "spread", "chance", "score", "chosen"]
    table, *plots = curve_files(path)
    write_csv(table, header, rows)
    write_plot(lambda: _draw(curve), plots, CURVE_TITLE)


def _draw(curve: PartCurve) -> Figure:
    """Draw both agreements, and below them the score that they give."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 5.6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    line = {"fmt": "o-", "color": BLUE, "capsize": 3, "label": "these photos"}
    above.errorbar(curve.numbers, curve.agreement, curve.spread, **line)
    above.plot(curve.numbers, curve.chance, "s--", color=GREY, label="structureless data (chance)")
    above.set_ylabel("agreement of two halves (ARI)")
    above.legend(frameon=False)
    below.plot(curve.numbers, curve.score, "o-", color=BLUE)
    below.set_ylabel("score: agreement\nbeyond chance")
    below.set_xlabel("number of parts, K")
    below.xaxis.get_major_locator().set_params(integer=True)
    for axis in (above, below):
        _mark(axis, curve.best)
    figure.suptitle(f"K = {curve.best}: halves of the photos agree most beyond chance")
    return figure


def _mark(axis: Axes, best: int) -> None:
    axis.axvline(best, color=ORANGE, linewidth=8, alpha=0.25, zorder=0)
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(axis="y", alpha=0.25)
