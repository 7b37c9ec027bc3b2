"""One review while it is being made: changed by several windows, written at every change."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from partdino.errors import ReviewError
from partdino.runs.measures.user_table import Joined
from partdino.runs.review.apply import drawn_lookup, label_lookup, reviewed_parts
from partdino.runs.review.beside import Beside
from partdino.runs.review.finished import IndexedRun
from partdino.runs.review.objects import ObjectCounts
from partdino.runs.review.state import Review, changed, read_review, write_review
from partdino.runs.review.summary import PartsOfPhotos, included, what_to_look_at
from partdino.runs.review.table import photo_table

_VERSION = 16  # hex digits


class StaleError(Exception):
    """A change was made to a revision that is not the latest one."""


class ReviewSession:
    """A run and its review.

    Parameters
    ----------
    run
        The run; its folder is locked for this session.
    told
        The user's own table of the photos, or None.
    beside
        Another run over the same photos, or None.

    Raises
    ------
    PartDinoError
        The review or the run's table cannot be read.
    """

    def __init__(
        self, run: IndexedRun, told: Joined | None = None, beside: Beside | None = None
    ) -> None:
        self.run, self._told, self.beside = run, told, beside
        self._lock, self._comparing, self._counting = Lock(), Lock(), Lock()
        self._objects = ObjectCounts(run)
        # In the addresses of pictures, which browsers keep: another run may have this port next.
        self._number = secrets.token_hex(4)
        review = read_review(run.folder, run.model_sha256, run.num_parts)
        self._latest = _Revision.of(run, review)

    @property
    def review(self) -> Review:
        """The latest revision."""
        return self._latest.review

    @property
    def drawn(self) -> Review:
        """The latest revision as photos are drawn by it: see `IndexedRun.fresh`."""
        return self._latest.drawn

    @property
    def state(self) -> dict[str, Any]:
        """What the page is told of the latest revision, for JSON."""
        return self._latest.state

    def about(self) -> dict[str, Any]:
        """Return what the page is told of the run, for JSON: what never changes."""
        return {
            "session": self._number,
            "title": self.run.folder.resolve().name,
            "num_parts": self.run.num_parts,
            "images": list(self.run.names),
            "without_pieces": self.run.without_pieces,
            "tells_objects": self._objects.there,
            "beside": self.beside and self.beside.other.folder.resolve().name,
            "shared": list(self.beside.shared) if self.beside else [],
        }

    def table(self) -> dict[str, Any]:
        """Return the table of the latest revision, for JSON: see `photo_table`."""
        latest = self._latest
        with self._counting:  # one window after another: what is counted is remembered
            table = photo_table(self.run, latest.drawn, latest.measured, self._objects, self._told)
        return {"revision": latest.review.revision, **table}

    def objects(self, index: int) -> int | None:
        """Return `ObjectCounts.of` a photo at the latest revision."""
        return self._objects.of(self.drawn, index)

    def parts_beside(self) -> dict[str, Any] | None:
        """Return `Beside.parts` at the latest revision; None where there is no other run."""
        latest = self._latest
        if self.beside is None:
            return None
        with self._comparing:  # one window after another: what is counted is remembered
            parts = self.beside.parts(latest.drawn)
        return {"revision": latest.review.revision, **parts}

    def change(self, seen: object, changes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Make the next revision, and write it.

        Parameters
        ----------
        seen
            The revision that the changes are made to.
        changes
            See `partdino.runs.review.changed`.

        Returns
        -------
        dict
            `state`, but of the photos that were mended only those that the changes name, None where
            nothing is mended any more: others have hundreds of numbers each, and are as they were
            at the revision `since`.

        Raises
        ------
        StaleError
            There is a newer revision.
        ReviewError
            The changes make no sense.
        OutputError
            It cannot be written; nothing has changed.
        """
        with self._lock:
            if seen != self.review.revision:
                raise StaleError
            review = changed(self.review, changes, self.run.num_parts, self.run.names)
            following = _Revision.of(self.run, review)  # first: what cannot be shown is not written
            write_review(self.run.folder, review)
            self._latest = following
        mended = following.state["said"]["mended"]
        named = {
            change["mended"]: mended.get(change["mended"])
            for change in changes
            if "mended" in change
        }
        said = {**following.state["said"], "mended": named}
        return {**following.state, "said": said, "since": seen}

    def version(self, index: int) -> str:
        """Return what changes whenever the labels of a photo do."""
        return self.state["versions"].get(index, self.state["version"])

    def halves(self, part: int) -> dict[str, Any]:
        """Return what is to be said to cut a part in two; raises `ReviewError`."""
        with self._lock:
            review = self.review
            numbers = review.numbers(self.run.num_parts)
            if part not in numbers or review.root(part) != part:
                raise ReviewError(f"there is no part {part}")
            clusters = self.run.halves(review, part)
        said = {"of": part, "clusters": clusters}
        return {"revision": review.revision, "split": numbers[-1] + 1, "said": said}


@dataclass(frozen=True, eq=False)
class _Revision:
    """A revision of the review, and all that is made of it."""

    review: Review
    drawn: Review
    measured: PartsOfPhotos
    state: dict[str, Any]

    @classmethod
    def of(cls, run: IndexedRun, review: Review) -> _Revision:
        drawn = run.fresh(review)
        measured = PartsOfPhotos.of(run, drawn)
        return cls(review, drawn, measured, _state(run, review, drawn, measured))


def _state(
    run: IndexedRun, review: Review, drawn: Review, measured: PartsOfPhotos
) -> dict[str, Any]:
    document = review.document()
    splits, mended = document.get("splits", {}), document.get("mended", {})
    version = hashlib.sha256(json.dumps(splits).encode()).hexdigest()[:_VERSION]
    return {
        "revision": review.revision,
        "said": {
            "parts": document["parts"],
            "photos": document["photos"],
            "splits": splits,
            "mended": mended,
        },
        # Of the labels of photos: of all of them, and of those that were mended.
        "version": version,
        "versions": {run.names[name]: version + mend.word for name, mend in drawn.mended.items()},
        "parts": _parts(run, review, measured),
        # Of each label of a run's label map: the part it belongs to, and what is drawn of it.
        "lookup": label_lookup(review, run.num_parts).tolist(),
        "drawn": drawn_lookup(review, run.num_parts).tolist(),
        "look_at": [*_mended_before(run, review, drawn), *what_to_look_at(run, measured)],
    }


def _mended_before(run: IndexedRun, review: Review, drawn: Review) -> list[tuple[int, list[str]]]:
    """Return the photos that were labelled anew since they were mended."""
    gone = [name for name in review.mended if name not in drawn.mended and name in run.names]
    reason = "was labelled anew since it was mended: mend it again, or take that back"
    return [(run.names[name], [reason]) for name in gone]


def _parts(run: IndexedRun, review: Review, measured: PartsOfPhotos) -> list[dict[str, Any]]:
    photos = included(run, review)
    columns = {part.part: column for column, part in enumerate(measured.parts)}
    parts = []
    for part in reviewed_parts(review, run.num_parts):
        column = columns.get(part.part)
        typical, odd = ([], []) if column is None else measured.examples(column, photos)
        there = 0 if column is None else int((measured.area[photos, column] > 0).sum())
        parts.append({**vars(part), "photos": there, "typical": typical, "odd": odd})
    return parts
