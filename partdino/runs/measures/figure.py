"""`measurements.png` and `.svg`: how every measurement is distributed, part by part."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from partdino.errors import InputError
from partdino.output_marks import MEASURES_TITLE
from partdino.runs.measures.photo import PhotoMeasures
from partdino.runs.measures.tables import Tables
from partdino.runs.measures.user_table import Joined
from partdino.runs.writers.palette import part_colours
from partdino.runs.writers.plots import GREY, write_plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_PHOTOS = 5000  # whose values are held
MAX_GROUPS = 8
MAX_BOXES = 60  # side by side
_COLUMNS = 4
# Of the groups: told apart by the colour-blind, too (Okabe & Ito, 2008).
_COLOURS = (
    *("#0072b2", "#e69f00", "#009e73", "#cc79a7"),
    *("#56b4e9", "#d55e00", "#f0e442", "#7f7f7f"),
)

# By measurement, by (part, group): what was measured, of the photos that have the part.
Values = Mapping[str, Mapping[tuple[int, str], Sequence[float]]]


def check_group(by: str, metadata: Joined | None) -> list[str]:
    """Return the groups that a column of the user's table divides the photos into, sorted.

    Raises
    ------
    InputError
        There is no such column, or it has more than `MAX_GROUPS` values.
    """
    if metadata is None:
        raise InputError(f"--by {by} is a column of --metadata; pass that, too")
    if by not in metadata.columns:
        columns = ", ".join(metadata.columns)
        raise InputError(f"--by {by}: --metadata has no such column, but {columns}")
    at = metadata.columns.index(by)
    groups = sorted({row[at] for row in metadata.rows.values()} - {""})
    if not groups or len(groups) > MAX_GROUPS:
        raise InputError(
            f"--by {by}: {len(groups)} different values, and a figure shows 1 to {MAX_GROUPS} "
            "groups; pass another column"
        )
    return groups


def collect(photos: Iterable[PhotoMeasures], total: int, tables: Tables, by: str | None) -> Values:
    """Return the values that are drawn, of at most `MAX_PHOTOS` photos, spread evenly.

    Parameters
    ----------
    photos, total
        The measured photos, and how many there are.
    tables
        What is measured.
    by
        A column of the user's table; photos without a value there are left out.
    """
    values: dict[str, dict[tuple[int, str], list[float]]] = {
        name: defaultdict(list) for name in tables.measures
    }
    step = -(-total // MAX_PHOTOS) or 1
    for index, photo in enumerate(photos):
        group = _group(photo.name, tables.metadata, by)
        if index % step or group is None:
            continue
        for _, part in photo.rows:
            for name, value in tables.values(photo, part).items():
                if name in values and value is not None:
                    values[name][part.part, group].append(float(value))
    return values


def write_figure(
    files: Sequence[Path],
    values: Values,
    parts: Mapping[int, str],
    groups: Sequence[str],
    by: str | None,
) -> None:
    """Draw a panel for each measurement with a box for each part, or for each part and group.

    Boxes hold the middle half of the photos, lines the rest within 1.5 times its range, points what
    is beyond. Of many parts only the first are drawn.

    Parameters
    ----------
    files
        PNG and SVG.
    values
        From `collect`.
    parts
        Names of the parts, by number.
    groups, by
        From `check_group`, and what they are values of; one empty group and None without.

    Raises
    ------
    OutputError
        A file cannot be written.
    """
    some = dict(list(parts.items())[: max(1, MAX_BOXES // len(groups))])
    write_plot(lambda: _draw(values, some, groups, by, len(parts)), files, MEASURES_TITLE)


def _group(name: str, metadata: Joined | None, by: str | None) -> str | None:
    if by is None or metadata is None:
        return ""
    return metadata.row(name)[metadata.columns.index(by)] or None


def _draw(
    values: Values, shown: Mapping[int, str], groups: Sequence[str], by: str | None, parts: int
) -> Figure:
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    rows = -(-len(values) // _COLUMNS)
    width = max(3.2, 0.16 * len(shown) * len(groups))
    figure = Figure(figsize=(width * _COLUMNS, 2.4 * rows + 0.6), layout="constrained")
    panels = figure.subplots(rows, _COLUMNS, squeeze=False).ravel()
    for panel, (name, found) in zip(panels, values.items(), strict=False):
        _boxes(panel, found, shown, groups)
        panel.set_title(name, fontsize=10)
    for panel in panels[len(values) :]:
        panel.set_axis_off()
    more = f" (the first {len(shown)} of {parts})" if len(shown) < parts else ""
    title = f"Measurements by part{more}" + (f" and {by}" if by else "")
    figure.suptitle(title)
    if by:
        patches = [Patch(color=c, label=g) for c, g in zip(_COLOURS, groups, strict=False)]
        figure.legend(handles=patches, title=by, loc="outside lower center", ncols=len(groups))
    return figure


def _boxes(
    panel: Axes,
    found: Mapping[tuple[int, str], Sequence[float]],
    shown: Mapping[int, str],
    groups: Sequence[str],
) -> None:
    width = 0.8 / len(groups)
    for part, at, group, colour in _places(shown, groups, width):
        values = found.get((part, group), ())
        if not values:
            continue
        panel.boxplot(
            [np.asarray(values)],
            positions=[at],
            widths=0.85 * width,
            patch_artist=True,
            boxprops={"facecolor": colour, "linewidth": 0.6},
            medianprops={"color": "black"},
            whiskerprops={"linewidth": 0.6},
            capprops={"linewidth": 0.6},
            flierprops={"marker": ".", "markersize": 2, "markeredgecolor": GREY},
            manage_ticks=False,
        )
    names = [name.removeprefix("part ") for name in shown.values()]
    upright = max(map(len, names), default=0) <= 3
    panel.set_xticks(range(len(shown)), names, rotation=0 if upright else 90)
    panel.set_xlim(-0.6, len(shown) - 0.4)
    panel.spines[["top", "right"]].set_visible(False)
    panel.grid(axis="y", alpha=0.25)


def _places(
    shown: Mapping[int, str], groups: Sequence[str], width: float
) -> Iterator[tuple[int, float, str, str]]:
    """Yield part, place on the axis, group and colour of every box."""
    for place, part in enumerate(shown):
        for index, group in enumerate(groups):
            of_part = "#{:02x}{:02x}{:02x}".format(*part_colours()[part])
            colour = of_part if len(groups) == 1 and not group else _COLOURS[index]
            yield part, place + (index - (len(groups) - 1) / 2) * width, group, colour
