"""What marks a folder as the output of a run: where photos are looked for, and where runs write."""

from __future__ import annotations

from collections.abc import Collection

RUN_FILE = "run.json"  # of a finished run
WORK_FOLDER = ".partdino"  # of a run that is going on, or was stopped
LABELS_FOLDER = "labels"
REVIEW_FOLDER = "review"  # what a review divides the label maps by


def is_output(names: Collection[str]) -> bool:
    """Return whether a folder with entries of these names is the output of a run.

    >>> is_output(["run.json", "labels", "overlays"]), is_output(["labels", "run.csv"])
    (True, False)
    """
    return WORK_FOLDER in names or (RUN_FILE in names and LABELS_FOLDER in names)
