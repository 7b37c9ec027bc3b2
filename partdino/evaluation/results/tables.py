"""Tables of scores: for the terminal and for ``results.md``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

METRICS = {
    "nmi": "NMI",
    "ari": "ARI",
    "fg_nmi": "FG-NMI",
    "fg_ari": "FG-ARI",
    "keypoint_regression": "KP error",
    "miou": "mIoU",
    "boundary_f": "boundary F",
    "band_nmi": "band NMI",
    "band_ari": "band ARI",
    "band_miou": "band mIoU",
    "object_iou": "IoU",
    "object_iou_worst": "worst IoU",
    "object_precision": "precision",
    "object_recall": "recall",
    "object_recall_worst": "worst recall",
    "outline_f": "outline F",
    "outside_hull": "outside",
    "object_keypoints": "KP found",
    "outside_box": "outside",
}
_AT_ONCE = 5  # columns of scores that fit a terminal of 80 columns


def terminal_tables(document: Mapping[str, Any]) -> Iterator[Table]:
    """Yield the summary of a results document as tables of at most 80 columns."""
    from rich import box
    from rich.table import Table

    names = _metrics(document)
    for start in range(0, len(names), _AT_ONCE):
        shown = names[start : start + _AT_ONCE]
        rows = [row for row in _rows(document, shown, "{:.2f}±{:.2f}") if any(row[2:])]
        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
        table.add_column("method")
        for heading in ("K", *(METRICS[name] for name in shown)):
            table.add_column(heading, justify="right", no_wrap=True)
        for row in rows:
            table.add_row(*row)
        yield table


def notes(document: Mapping[str, Any]) -> list[str]:
    """Return the lines that a reader of the tables must know."""
    seeds = max(row["seeds"] for row in document["summary"])
    lines = ["Percent; KP error and outside: lower is better, all others: higher."]
    if seeds > 1:
        lines.append(f"Mean and standard deviation over {seeds} seeds.")
    if document["not_comparable_because"]:
        reasons = ", ".join(document["not_comparable_because"])
        lines.append(f"Not comparable with published numbers: {reasons}.")
    return lines


def markdown(document: Mapping[str, Any]) -> str:
    """Return ``results.md``: the table and what it was made of."""
    names = _metrics(document)
    heading = ["method", "K", *(METRICS[name] for name in names)]
    rows = [heading, ["---", *["---:"] * (len(heading) - 1)]]
    rows += _rows(document, names, "{:.2f} ± {:.2f}")
    used = ", ".join(f"{number} {split}" for split, number in document["dataset"]["used"].items())
    lines = [
        f"# {document['dataset']['name']}",
        "",
        f"Images: {used}.",
        *document["dataset"]["warnings"],
        "",
        *("| " + " | ".join(row) + " |" for row in rows),
        "",
        *notes(document),
        "",
        *_made_of(document),
    ]
    return "\n".join(lines) + "\n"


def _metrics(document: Mapping[str, Any]) -> list[str]:
    """Return the names of the scores that a document has, in the order of `METRICS`."""
    return [name for name in METRICS if any(name in row["scores"] for row in document["summary"])]


def _rows(document: Mapping[str, Any], names: Sequence[str], both: str) -> list[list[str]]:
    """Return method, K and scores of every row, the published ones after our own."""
    ours = [
        [row["method"], "" if row["parts"] is None else str(row["parts"])]
        + [_cell(row["scores"].get(name, {}), both) for name in names]
        for row in document["summary"]
    ]
    published = [
        [f"{entry['method']} ({entry['training']})", str(entry["parts"])]
        + [_cell({"mean": entry["scores"].get(name)}, both) for name in names]
        for entry in document["published"]
    ]
    return ours + published


def _cell(score: Mapping[str, float | None], both: str) -> str:
    mean, spread = score.get("mean"), score.get("spread")
    if mean is None:
        return ""
    return f"{mean:.2f}" if spread is None else both.format(mean, spread)


def _made_of(document: Mapping[str, Any]) -> list[str]:
    lines = [f"- protocol: {_listed(document['protocol'])}"]
    if "labels" in document:
        lines.append(f"- label maps: {document['labels']}")
    else:
        weights = document["weights"]
        lines.append(f"- weights: {weights['source']}, sha256 {weights['sha256']}")
        lines.append(f"- options: {_listed(document['options'])}")
    lines.append(f"- annotations: sha256 {document['dataset']['sha256']}")
    lines.append(f"- partdino {document['version']}")
    return lines


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in values.items() if value is not None)
