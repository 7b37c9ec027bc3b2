"""The label maps of a run as its review divides them: parts that were split, photos mended.

Merged parts and background are not applied here, but on what this returns: see `label_lookup`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from partdino.errors import ModelError, ReviewError
from partdino.files import file_sha256
from partdino.output_marks import REVIEW_FILE
from partdino.parts.label_map import resize_label_map
from partdino.parts.model_file import load_model
from partdino.parts.outline import spread_labels
from partdino.parts.pieces import Pieces
from partdino.parts.result import PartSegmentation
from partdino.runs.folder import MODEL_FILE
from partdino.runs.result_log import Recorded
from partdino.runs.review.mend import NOT_GIVEN, Mend, pieces_hash
from partdino.runs.review.state import Review
from partdino.runs.writers.pieces import pieces_path, read_pieces

_AGAIN = "label again with --overwrite"


@dataclass(frozen=True)
class Clusters:
    """The small clusters of a run's model.

    Attributes
    ----------
    centroids
        float (M, P), unit vectors.
    parts
        int (M,): the part, 1..K, that each is of, 0 where it is background.
    """

    centroids: np.ndarray
    parts: np.ndarray


def read_clusters(folder: Path, model_sha256: str) -> Clusters:
    """Read the clusters of the model in an output folder.

    Raises
    ------
    ReviewError
        The model is missing or damaged, or is not the one that the photos were labelled with.
    """
    path = folder / MODEL_FILE
    try:
        if file_sha256(path) == model_sha256:
            return _clusters_of(path, model_sha256)
    except (OSError, ModelError):
        pass
    raise ReviewError(
        f"{path} is not the model that the photos there were labelled with, which what was split "
        f"and mended depends on; put that back, or {_AGAIN}"
    )


@lru_cache(maxsize=8)  # each photo that is drawn or mended asks for them
def _clusters_of(path: Path, sha256: str) -> Clusters:
    """Return the clusters of the model file that has this content."""
    model = load_model(path)
    parts = model.labels[model.parts.parts].astype(np.int64)
    return Clusters(model.parts.centroids, parts)


@dataclass(frozen=True)
class Division:
    """How a review divides the photos of a run.

    Parameters
    ----------
    folder
        The output folder.
    review
        Its review.
    num_parts
        K.
    """

    folder: Path
    review: Review
    num_parts: int

    @property
    def largest(self) -> int:
        """The largest number of a part, K or above."""
        return max(self.review.numbers(self.num_parts))

    def check(self, images: Iterable[Recorded]) -> None:
        """Raise `ReviewError` where a photo of the run was labelled anew since it was mended."""
        mended = self.review.mended
        if not mended:
            return
        stems = {image.name: image.stem for image in images if image.name in mended}
        for name, mend in mended.items():
            if not is_of(mend, self.folder, stems.get(name, name)):
                raise self._labelled_anew(name)

    def changes(self, name: str) -> bool:
        """Return whether a photo may be divided otherwise than the run did."""
        return bool(self.review.splits) or name in self.review.mended

    def result(self, recorded: Recorded) -> PartSegmentation:
        """Return the result of a photo.

        Returns
        -------
        PartSegmentation
            At the photo's own size, of `largest` parts. Pixels keep the confidence that they had,
            and 1 where a person gave them to a part.

        Raises
        ------
        OutputError
            The label map is missing or damaged.
        ReviewError
            What the photo is divided by is missing, or not of this label map.
        """
        result = recorded.recall(self.folder)
        size = self.largest
        if not self.changes(recorded.name):
            means = (np.pad(m, (0, size - len(m))) for m in (result.confidence, result.typicality))
            confidence, typicality = means
            return replace(result, num_parts=size, confidence=confidence, typicality=typicality)
        pieces, mend = self._read(recorded)
        labels, shares = self._labels(pieces, mend), self.shares_of(self._tally(pieces, mend))
        areas = np.bincount(result.label_map.ravel(), minlength=self.num_parts + 1)
        _, confidence, typicality = shares.apply(areas, result.confidence, result.typicality)
        return replace(
            result,
            label_map=_drawn(labels, pieces.labels(self._clusters.parts), result.label_map),
            num_parts=size,
            confidence=confidence.astype(np.float32),
            typicality=typicality.astype(np.float32),
            foreground_found=bool(labels.any()),
        )

    def small(self, recorded: Recorded) -> np.ndarray:
        """Return the labels of a photo at the size of its pieces, uint8; errors as of `result`."""
        return self._labels(*self._read(recorded))

    def tally(self, recorded: Recorded) -> np.ndarray:
        """Count the pixels of a photo's pieces by cluster and by what a person gave them.

        Returns
        -------
        int64 (M + 1, G + 2): of the background and of each cluster, first those that nobody gave
        anything, then those given to the background and to each part. What is split later changes
        none of it. Errors as of `result`.
        """
        return self._tally(*self._read(recorded))

    def _tally(self, pieces: Pieces, mend: Mend | None) -> np.ndarray:
        given = mend.pixels() if mend else np.full(pieces.clusters.shape, NOT_GIVEN, np.int16)
        rows, columns = len(self._clusters.parts) + 1, int(given.max()) - NOT_GIVEN + 1
        places = pieces.clusters.astype(np.int64) * columns + (given - NOT_GIVEN)
        return np.bincount(places.ravel(), minlength=rows * columns).reshape(rows, columns)

    def shares_of(self, tally: np.ndarray) -> Shares:
        """Return what becomes of the labels of a photo that is so tallied."""
        before = np.append(0, self._clusters.parts)
        kept, given = np.zeros((2, self.num_parts + 1, self.largest + 1), np.int64)
        np.add.at(kept, (before, np.append(0, self._parts)), tally[:, 0])
        np.add.at(given[:, : tally.shape[1] - 1], before, tally[:, 1:])
        return Shares.of(kept, given)

    @cached_property
    def _clusters(self) -> Clusters:
        return read_clusters(self.folder, self.review.model_sha256)

    @cached_property
    def _parts(self) -> np.ndarray:
        return self.review.part_of_clusters(self._clusters.parts)

    def _labels(self, pieces: Pieces, mend: Mend | None) -> np.ndarray:
        labels = pieces.labels(self._parts)
        if mend is None:
            return labels
        given = mend.pixels()
        return np.where(given == NOT_GIVEN, labels, given).astype(np.uint8)

    def _read(self, recorded: Recorded) -> tuple[Pieces, Mend | None]:
        """Return the pieces of a photo, and what was mended of it."""
        pieces = read_pieces(self.folder, recorded.stem, len(self._clusters.parts))
        if pieces is None:
            path = pieces_path(self.folder, recorded.stem)
            raise ReviewError(
                f"{path} is missing or damaged, and {REVIEW_FILE} splits or mends what is in it; "
                f"{_AGAIN}"
            )
        mend = self.review.mended.get(recorded.name)
        if mend is not None and (
            mend.size != pieces.regions.shape or not is_of(mend, self.folder, recorded.stem)
        ):
            raise self._labelled_anew(recorded.name)
        return pieces, mend

    def _labelled_anew(self, name: str) -> ReviewError:
        return ReviewError(
            f"{name} was labelled anew since it was mended; open partdino review {self.folder} and "
            "mend it again, or take that back"
        )


def _drawn(labels: np.ndarray, before: np.ndarray, label_map: np.ndarray) -> np.ndarray:
    """Return labels (h, w) at the size of the label map that was made of those before.

    Outlines were refined on the photo: they stay where what is object has stayed.
    """
    size = label_map.shape
    drawn, old = resize_label_map(labels, size), resize_label_map(before, size)
    if not labels.any():
        return drawn
    stays = (drawn > 0) == (old > 0)
    inside = np.where(stays, label_map > 0, drawn > 0)
    return resize_label_map(spread_labels(labels), size) * inside


def is_of(mend: Mend, folder: Path, stem: str) -> bool:
    """Return whether what was mended of a photo is its label map of today."""
    try:
        return mend.pieces == pieces_hash(pieces_path(folder, stem).read_bytes())
    except OSError:
        return False


@dataclass(frozen=True)
class Shares:
    """What becomes of the labels of one photo: of each label before, the share of each after.

    Attributes
    ----------
    kept, given
        float64 (K + 1, L + 1): without and with pixels that a person gave; together, rows of what
        is there sum to 1.
    """

    kept: np.ndarray
    given: np.ndarray

    @classmethod
    def of(cls, kept: np.ndarray, given: np.ndarray) -> Shares:
        """Make shares of numbers of pixels."""
        totals = np.maximum((kept + given).sum(axis=1, keepdims=True), 1)
        return cls(kept / totals, given / totals)

    def apply(
        self, areas: np.ndarray, confidence: np.ndarray, typicality: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return areas and means after of those before.

        Parameters
        ----------
        areas
            (K + 1,): of the background and of each part.
        confidence, typicality
            (K,): of each part.

        Returns
        -------
        areas, confidence, typicality : np.ndarray
            float64 (L,), of the parts alone; means are 0 where a part is absent.
        """
        areas = np.asarray(areas, float)
        kept, given = areas @ self.kept, areas @ self.given
        least = np.where(kept + given > 0, kept + given, 1)
        sure, typical = (np.append(0, means) * areas for means in (confidence, typicality))
        new_confidence = (sure @ self.kept + given) / least
        new_typicality = typical @ (self.kept + self.given) / least
        return (kept + given)[1:], new_confidence[1:], new_typicality[1:]
