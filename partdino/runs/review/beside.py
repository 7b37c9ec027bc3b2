"""Another run over the same photos, beside the one that is reviewed: which parts are alike."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from partdino.errors import InputError
from partdino.metrics.matching import match_parts, part_iou
from partdino.parts.sampling import evenly_spaced
from partdino.runs.review.apply import drawn_lookup, label_lookup, reviewed_parts
from partdino.runs.review.finished import IndexedRun, open_run
from partdino.runs.review.pictures import THUMBNAIL, sized_labels, whole_size
from partdino.runs.review.split import Split
from partdino.runs.review.state import Review, read_review
from partdino.runs.writers.labels import label_png
from partdino.runs.writers.palette import part_colours
from partdino.runs.writers.sheet import fit

MAX_PHOTOS = 200  # that parts are compared in, evenly spread over those that both runs have
_LABELS = 256  # values of a label map


@dataclass(frozen=True, eq=False)
class Beside:
    """The other run, read only.

    Attributes
    ----------
    run
        The run that is reviewed.
    other
        The run beside it.
    review
        What is said of the other one, as it was when it was opened.
    """

    run: IndexedRun
    other: IndexedRun
    review: Review

    @classmethod
    def open(cls, run: IndexedRun, folder: Path) -> Beside:
        """Open the run to have beside another one.

        Raises
        ------
        PartDinoError
            There is no finished run, its review cannot be read, or the two have no photo in common.
        """
        other = open_run(folder)
        review = read_review(folder, other.model_sha256, other.num_parts)
        beside = cls(run, other, other.fresh(review))
        if not beside.shared:
            raise InputError(
                f"{folder} has no photo of those in {run.folder}; name a run over the same ones"
            )
        return beside

    @cached_property
    def shared(self) -> dict[int, int]:
        """The photos that both have, by their ids: the other run's by this one's."""
        names = self.other.names
        return {i: names[name] for name, i in self.run.names.items() if name in names}

    def labels_png(self, index: int) -> bytes | None:
        """Return the other run's labels of a photo, as large as those of this one are whole.

        None where it has no such photo; raises `PartDinoError`.
        """
        if index not in self.shared:
            return None
        return label_png(self._labels(index, whole_size(self.run, index)))

    def _labels(self, index: int, size: tuple[int, int]) -> np.ndarray:
        return sized_labels(self.other, self.review, self.shared[index], size)

    def parts(self, review: Review) -> dict[str, Any]:
        """Return the other run's parts, for JSON, as far as possible by the numbers of this one's.

        Parameters
        ----------
        review
            What is said of the run that is reviewed, as it is drawn.

        Returns
        -------
        dict
            ``parts``: of each its ``part``, the number of this run's part that it is matched with,
            else one above all of those; its ``name``, its ``colour``, that of the matched part, and
            the ``overlap`` with it, intersection over union in 0 to 1, or None. ``lookup`` and
            ``drawn``: the number of each label of its label maps, as of the page's state.
        """
        ours = {part.part: part for part in reviewed_parts(review, self.run.num_parts)}
        theirs = reviewed_parts(self.review, self.other.num_parts)
        table = self._table(review)
        matched = {their: our for our, their in match_parts(table).items()}
        overlap = part_iou(table)
        numbers = np.zeros(_LABELS, np.uint8)
        parts, free = [], max(ours) + 1
        for part in theirs:
            if part.background:
                continue
            our = matched.get(part.part)
            numbers[part.part] = free if our is None else our
            colour = "#" + part_colours()[free].tobytes().hex() if our is None else ours[our].colour
            share = None if our is None else round(float(overlap[our - 1, part.part - 1]), 3)
            number = int(numbers[part.part])
            parts.append({"part": number, "name": part.name, "colour": colour, "overlap": share})
            free += our is None
        label = label_lookup(self.review, self.other.num_parts)
        drawn = drawn_lookup(self.review, self.other.num_parts)
        return {
            "parts": parts,
            "lookup": numbers[label].tolist(),
            "drawn": numbers[drawn].tolist(),
        }

    def _table(self, review: Review) -> np.ndarray:
        """Pixels of each part of this run (rows) in each part of the other one, as reviewed."""
        pixels = self._pixels(review)
        table = np.zeros((_LABELS, _LABELS), np.int64)
        ours = label_lookup(review, self.run.num_parts).astype(np.intp)
        theirs = label_lookup(self.review, self.other.num_parts).astype(np.intp)
        np.add.at(table, (ours[:, None], theirs[None, :]), pixels)
        return table

    def _pixels(self, review: Review) -> np.ndarray:
        """Pixels of each label of both, remembered while the same parts are split."""
        splits = dict(review.splits)
        if (known := self._known.get("pixels")) and known[0] == splits:
            return known[1]
        pixels = np.zeros((_LABELS, _LABELS), np.int64)
        for index in evenly_spaced(list(self.shared), MAX_PHOTOS):
            size = fit(self.run.size(index), THUMBNAIL)
            ours = sized_labels(self.run, review, index, size).astype(np.intp)
            pairs = ours * _LABELS + self._labels(index, size)
            pixels += np.bincount(pairs.ravel(), minlength=_LABELS**2).reshape(_LABELS, _LABELS)
        self._known["pixels"] = (splits, pixels)
        return pixels

    @cached_property
    def _known(self) -> dict[str, tuple[dict[int, Split], np.ndarray]]:
        return {}
