"""The figure of a study: how entropy and confidence are distributed in each group of patches."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from partdino.evaluation.study.patches import Patches
from partdino.evaluation.study.straddling import GROUPS
from partdino.evaluation.study.table import effect_text
from partdino.output_marks import STUDY_TITLE
from partdino.runs.writers.plots import BLUE, GREY, ORANGE, write_plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = (BLUE, ORANGE, GREY)
_LABELS = {"interior": "interior", "inner": "boundary inside", "silhouette": "silhouette"}
_TITLES = {"image": "boundaries of the image", "truth": "borders of the true parts"}
_MEASURES = {"entropy": "normalised entropy", "confidence": "confidence"}
_LEGEND = (
    "Outlines: histograms. Dots: medians; bars: quartiles. Brackets: Cliff's delta against the\n"
    "interior patches with its 95% bootstrap interval over images; above 0: larger values."
)
_BINS = 40
_HALF_WIDTH = 0.42


def write_figure(out: Path, document: Mapping[str, Any], patches: Patches) -> None:
    """Write ``boundary.png`` and ``boundary.svg``; the same study gives the same bytes.

    Parameters
    ----------
    out
        The folder.
    document
        The content of ``summary.json``.
    patches
        The patches; their first temperature is shown.
    """
    files = [out / f"boundary.{kind}" for kind in ("png", "svg")]
    write_plot(lambda: _draw(document, patches), files, STUDY_TITLE)


def _draw(document: Mapping[str, Any], patches: Patches) -> Figure:
    """Draw a panel for each definition of boundaries and each measure."""
    from matplotlib.figure import Figure

    groups = {"image": patches.group, "truth": patches.true_group}
    definitions = list(document["patches"])
    figure = Figure(figsize=(10, 1.2 + 4 * len(definitions)), layout="constrained")
    panels = figure.subplots(len(definitions), len(_MEASURES), squeeze=False)
    for row, definition in zip(panels, definitions, strict=True):
        for axes, measure in zip(row, _MEASURES, strict=True):
            _draw_groups(axes, getattr(patches, measure)[:, 0], groups[definition])
            axes.set_title(f"{_MEASURES[measure]}, {_TITLES[definition]}", fontsize=11)
            effects = _effects(document, definition, measure)
            counts = document["patches"][definition]
            axes.set_xticks(range(len(GROUPS)), [_tick(g, counts[g], effects) for g in GROUPS])
            axes.set_xlabel(f"both straddling groups together: {effects['all']}")
    figure.suptitle(_heading(document), fontsize=12)
    figure.supxlabel(_LEGEND, fontsize=9)
    return figure


def _draw_groups(axes: Axes, values: np.ndarray, groups: np.ndarray) -> None:
    """Draw a mirrored histogram for each group, its quartiles and its median."""
    edges = np.linspace(0, 1, _BINS + 1)
    for place, colour in enumerate(_COLOURS):
        members = values[groups == place]
        if len(members) == 0:
            continue
        counts, _ = np.histogram(members, edges)
        width = np.repeat(_HALF_WIDTH * counts / counts.max(), 2)
        outline = np.repeat(edges, 2)[1:-1]
        axes.fill_betweenx(outline, place - width, place + width, color=colour, alpha=0.5, lw=0)
        low, median, high = np.percentile(members, (25, 50, 75))
        axes.plot([place, place], [low, high], color="black", lw=4, solid_capstyle="butt")
        axes.plot(place, median, "o", color="white", markeredgecolor="black", markersize=7)
        beside: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": 9}
        axes.annotate(f"{median:.3f}", (place, median), (9, 0), **beside)
    axes.set_xlim(-0.6, len(GROUPS) - 0.4)
    axes.set_ylim(0, 1)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", alpha=0.25)


def _effects(document: Mapping[str, Any], definition: str, measure: str) -> dict[str, str]:
    """Return the effect that is shown, by kind of straddling patch."""
    shown = (definition, measure, document["temperatures"][0])
    return {
        entry["straddling"]: effect_text(entry["effects"]["cliffs_delta"])
        for entry in document["comparisons"]
        if (entry["definition"], entry["measure"], entry["temperature"]) == shown
    }


def _tick(group: str, count: int, effects: Mapping[str, str]) -> str:
    return f"{_LABELS[group]}\nn = {count:,}\n{effects.get(group, '')}"


def _heading(document: Mapping[str, Any]) -> str:
    options = document["options"]
    return (
        f"{document['collection']}: {sum(document['patches']['image'].values()):,} foreground "
        f"patches of {document['studied_images']:,} images, {options['backbone']}, "
        f"K = {options['parts']}"
    )
