"""Two results documents side by side."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partdino.errors import InputError
from partdino.evaluation.results.document import FORMAT
from partdino.evaluation.results.tables import METRICS

if TYPE_CHECKING:
    from rich.table import Table

_Scores = dict[str, dict[str, Any]]


def read_results(path: Path) -> dict[str, Any]:
    """Read a ``results.json``; raises `InputError`."""
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as json; give a results.json") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InputError(f"{path}: not written by this version of 'partdino eval'; run it again")
    return document


def compare(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Pair the mean scores of two results documents.

    Parameters
    ----------
    first, second
        Contents of ``results.json``.

    Returns
    -------
    dict
        ``differing``: what keeps the two from being the same test; ``rows``: method, parts, metric,
        first, second and difference (second - first). Rows pair the same method and number of
        parts; where both hold one method only, the same number of parts. A side without a partner
        is None.

    Raises
    ------
    InputError
        They are of two benchmarks.
    """
    if first["benchmark"] != second["benchmark"]:
        raise InputError(
            f"one is of {first['benchmark']}, the other of {second['benchmark']}; "
            "compare results of one benchmark"
        )
    left, right = _by_variant(first), _by_variant(second)
    methods = [{method for method, _ in side} for side in (left, right)]
    if methods[0] != methods[1] and len(methods[0]) == len(methods[1]) == 1:
        title = " / ".join(side.copy().pop() for side in methods)
        left, right = (
            {(title, parts): s for (_, parts), s in side.items()} for side in (left, right)
        )
    rows = [
        {"method": method, "parts": parts, "metric": metric}
        | _difference(left.get((method, parts)), right.get((method, parts)), metric)
        for method, parts in dict.fromkeys([*left, *right])
        for metric in METRICS
    ]
    rows = [row for row in rows if row["first"] is not None or row["second"] is not None]
    return {"differing": _differing(first, second), "rows": rows}


def comparison_table(comparison: Mapping[str, Any]) -> Table:
    """Return the rows of `compare` as a table for the terminal."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("method")
    table.add_column("K", justify="right")
    table.add_column("score")
    for heading in ("A", "B", "B - A"):
        table.add_column(heading, justify="right")
    for row in comparison["rows"]:
        values = (_number(row["first"]), _number(row["second"]), _number(row["difference"], "+"))
        table.add_row(row["method"], str(row["parts"]), METRICS[row["metric"]], *values)
    return table


def _by_variant(document: Mapping[str, Any]) -> dict[tuple[str, int | None], _Scores]:
    return {(row["method"], row["parts"]): row["scores"] for row in document["summary"]}


def _difference(first: _Scores | None, second: _Scores | None, metric: str) -> dict[str, Any]:
    a, b = ((side or {}).get(metric, {}).get("mean") for side in (first, second))
    return {"first": a, "second": b, "difference": None if a is None or b is None else b - a}


def _differing(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """Say in which respects the two were scored on different terms."""
    names = ("annotations", "images", "partial", *{**first["protocol"], **second["protocol"]})
    terms = [
        {
            **document["protocol"],
            "annotations": document["dataset"]["sha256"],
            "images": document["dataset"]["used"],
            "partial": document.get("partial"),
        }
        for document in (first, second)
    ]
    return [name for name in names if terms[0].get(name) != terms[1].get(name)]


def _number(value: float | None, sign: str = "") -> str:
    return "-" if value is None else f"{value:{sign}.2f}"
