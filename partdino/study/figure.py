"""The figure of a study: how entropy and confidence are distributed in each group of patches."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from partdino.files import atomic_path
from partdino.study.patches import Patches
from partdino.study.straddling import GROUPS
from partdino.study.table import effect_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = ("#0072b2", "#d55e00", "#8a8a8a")  # told apart by the colour-blind, too
_LABELS = ("interior", "boundary inside", "silhouette")
_TITLES = {
    "image": "boundaries of the image",
    "truth": "borders of the true parts",
}
_MEASURES = {"entropy": "normalised entropy", "confidence": "confidence"}
_BINS = 60
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
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    groups = {"image": patches.group, "truth": patches.true_group}
    definitions = list(document["patches"])
    with rc_context({"svg.hashsalt": "partdino", "font.size": 10, "font.family": "DejaVu Sans"}):
        figure = Figure(figsize=(9, 4.3 * len(definitions)), layout="constrained")
        axes = figure.subplots(len(definitions), len(_MEASURES), squeeze=False)
        for row, definition in zip(axes, definitions, strict=True):
            for axis, measure in zip(row, _MEASURES, strict=True):
                values = getattr(patches, measure)[:, 0]
                _draw(axis, values, groups[definition])
                axis.set_title(f"{_MEASURES[measure]}, {_TITLES[definition]}", fontsize=11)
                axis.set_xlabel(_caption(document, definition, measure), fontsize=9)
        figure.suptitle(_heading(document), fontsize=12)
        _save(figure, out / "boundary.png", dpi=150)
        _save(figure, out / "boundary.svg", metadata={"Date": None})


def _save(figure: Any, path: Path, **options: Any) -> None:
    with atomic_path(path) as temporary:
        figure.savefig(temporary, format=path.suffix[1:], **options)


def _draw(axis: Axes, values: np.ndarray, groups: np.ndarray) -> None:
    """Draw a mirrored histogram for each group, its quartiles and its median."""
    edges = np.linspace(0, 1, _BINS + 1)
    labels = []
    for place, colour in enumerate(_COLOURS):
        members = values[groups == place]
        labels.append(f"{_LABELS[place]}\nn = {len(members):,}")
        if len(members) == 0:
            continue
        counts, _ = np.histogram(members, edges)
        width = _HALF_WIDTH * counts / counts.max()
        axis.fill_betweenx(
            np.repeat(edges, 2)[1:-1],
            place - np.repeat(width, 2),
            place + np.repeat(width, 2),
            color=colour,
            alpha=0.45,
            linewidth=0,
        )
        low, median, high = np.percentile(members, (25, 50, 75))
        axis.plot([place, place], [low, high], color="black", linewidth=4, solid_capstyle="butt")
        axis.plot(place, median, "o", color="white", markeredgecolor="black", markersize=7)
        axis.annotate(
            f"{median:.3f}",
            (place, median),
            (9, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
        )
    axis.set_xticks(range(len(GROUPS)), labels)
    axis.set_xlim(-0.6, len(GROUPS) - 0.4)
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(axis="y", alpha=0.25)


def _heading(document: Mapping[str, Any]) -> str:
    options = document["options"]
    return (
        f"{document['collection']}: {sum(document['patches']['image'].values()):,} foreground "
        f"patches of {document['studied_images']:,} images, {options['backbone']}, "
        f"K = {options['parts']}"
    )


def _caption(document: Mapping[str, Any], definition: str, measure: str) -> str:
    """Say what the effects are, with their intervals."""
    effects = {
        entry["straddling"]: entry["effects"]["cliffs_delta"]
        for entry in document["comparisons"]
        if entry["definition"] == definition
        and entry["measure"] == measure
        and entry["temperature"] == document["temperatures"][0]
    }
    return (
        "Cliff's delta against interior (95% interval over images)\n"
        f"boundary inside {effect_text(effects['inner'])},  "
        f"silhouette {effect_text(effects['silhouette'])},\nboth {effect_text(effects['all'])}"
    )
