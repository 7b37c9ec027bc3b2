"""`failures.csv`: the files that gave no result, and why."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from partdino.files import write_csv


def write_failures(out: Path, failures: Iterable[tuple[str, str]]) -> None:
    """Write the table of failed files; without failures it holds the header alone.

    Parameters
    ----------
    out
        The run's output folder.
    failures
        File and reason, in the order they are to be listed.

    Raises
    ------
    OutputError
        The file cannot be written.
    """
    rows = ([file, " ".join(reason.split())] for file, reason in failures)
    write_csv(out / "failures.csv", ["file", "reason"], rows)
