"""How many objects each photo shows, in a run that tells them apart, as the review has it."""

from __future__ import annotations

import numpy as np

from partdino.parts.instances import find_instances
from partdino.runs.resume import share_of
from partdino.runs.review.apply import label_lookup
from partdino.runs.review.finished import IndexedRun
from partdino.runs.review.state import Review


class ObjectCounts:
    """Counts objects where the review may have changed their number, each photo once.

    Parameters
    ----------
    run
        The run.

    Attributes
    ----------
    there
        Whether the run tells objects apart.
    """

    def __init__(self, run: IndexedRun) -> None:
        self._run, self._share = run, share_of(run.document.get("fingerprint", {}))
        self._known: dict[int, tuple[object, int]] = {}
        self.there = self._share is not None

    def of(self, review: Review, index: int) -> int | None:
        """Return how many objects a photo shows; None where the run does not tell them apart.

        Raises
        ------
        PartDinoError
            The photo has to be counted anew, and its label map cannot be read.
        """
        if self._share is None:
            return None
        image = self._run.images[index]
        mend = review.mended.get(image.name)
        lookup = label_lookup(review, self._run.num_parts)
        lost = self._partly_background(review, lookup)
        if mend is None and not any(self._run.area[index, part - 1] for part in lost):
            return image.objects
        depends_on = (mend and mend.word, review.splits, lookup.tobytes())
        known = self._known.get(index)
        if known is None or known[0] != depends_on:
            labels = lookup[self._run.divided(review).result(image).label_map]
            count = int(find_instances(labels, self._share).max(initial=0))
            known = self._known[index] = (depends_on, count)
        return known[1]

    def _partly_background(self, review: Review, lookup: np.ndarray) -> set[int]:
        """Return the parts of the run, 1 to K, of which something is called background."""
        parts = set()
        for part in review.numbers(self._run.num_parts):
            if lookup[part]:
                continue
            while part in review.splits:
                part = review.splits[part].of
            parts.add(part)
        return parts
