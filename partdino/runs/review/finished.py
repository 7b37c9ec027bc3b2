"""A finished run as the review reads it: its photos by number, their label maps, its measures.

Exports go through a run once, in constant memory: see `partdino.runs.exports.finished`.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from partdino.errors import InputError, OutputError, ReviewError
from partdino.files import csv_safe
from partdino.images.decode import TooLargeError, open_image
from partdino.images.read import ImageError, read_image
from partdino.output_marks import LABELS_FOLDER, RUN_FILE
from partdino.runs.folder import read_finished_run
from partdino.runs.reporting import Reporter
from partdino.runs.result_log import (
    RESULTS_FILE,
    Recorded,
    read_head,
    read_results,
    replaced_sentence,
)
from partdino.runs.review.division import Clusters, Division, Shares, is_of, read_clusters
from partdino.runs.review.mend import Mend
from partdino.runs.review.split import cut_in_two
from partdino.runs.review.state import Review
from partdino.runs.writers.pieces import pieces_path, read_pieces

_AGAIN = "label again with --overwrite"
_OBJECTS = ("weights", "options", "parts", "counts")  # in `run.json`
_NAMED = "named"  # of its parts, where the model has names


@dataclass(frozen=True)
class IndexedRun:
    """A finished run's output folder, read only.

    Attributes
    ----------
    folder
        The output folder.
    document
        What `run.json` holds.
    model_sha256
        Of the model that made the label maps.
    images
        The photos that have a label map, in the order of the run; their index is their id.
    """

    folder: Path
    document: dict[str, Any]
    model_sha256: str
    images: list[Recorded]

    @property
    def num_parts(self) -> int:
        """K."""
        return len(self.images[0].confidence or ())

    @cached_property
    def names(self) -> dict[str, int]:
        """The photos' ids by name, in their order."""
        return {image.name: index for index, image in enumerate(self.images)}

    @cached_property
    def confidence(self) -> np.ndarray:
        """float64 (N, K) in 0 to 1, as `partdino.parts.result.PartSegmentation` has it."""
        return np.array([image.confidence for image in self.images], float)

    @cached_property
    def typicality(self) -> np.ndarray:
        """float64 (N, K) in 0 to 1, as `partdino.parts.result.PartSegmentation` has it."""
        return np.array([image.typicality for image in self.images], float)

    @cached_property
    def area(self) -> np.ndarray:
        """float64 (N, K): share of the photo's pixels, 0 where a part is absent.

        Raises
        ------
        InputError
            `parts.csv` is missing or damaged.
        """
        # As the table has the names.
        rows = {csv_safe(name): index for name, index in self.names.items()}
        area = np.zeros((len(self.images), self.num_parts))
        path = self.folder / "parts.csv"
        try:
            with path.open(newline="", encoding="utf-8") as stream:
                for row in csv.DictReader(stream):
                    area[rows[row["image"]], int(row["part"]) - 1] = float(row["area_fraction"])
        except (OSError, KeyError, ValueError, IndexError, TypeError, csv.Error) as error:
            raise InputError(f"{path} is missing or damaged; {_AGAIN}") from error
        return area

    def warn_of_replaced(self, reporter: Reporter) -> None:
        """Say in one line which photos are not those that were labelled."""
        if replaced := [image.name for image in self.images if image.is_replaced()]:
            reporter.warn(replaced_sentence(replaced, "they are not shown"))

    @cached_property
    def without_pieces(self) -> list[int]:
        """The photos of which nothing is kept that they could be mended or split by."""
        paths = (pieces_path(self.folder, image.stem) for image in self.images)
        return [index for index, path in enumerate(paths) if not path.is_file()]

    @cached_property
    def clusters(self) -> Clusters:
        """The small clusters of the model; raises `ReviewError`."""
        return read_clusters(self.folder, self.model_sha256)

    @cached_property
    def cluster_pixels(self) -> np.ndarray:
        """int64 (N, M): how many pixels of each photo's pieces are in each cluster.

        Raises
        ------
        ReviewError
            Nothing is kept of some photo, or it is damaged.
        """
        number = len(self.clusters.parts)
        counts = np.zeros((len(self.images), number), np.int64)
        for index, image in enumerate(self.images):
            if (pieces := read_pieces(self.folder, image.stem, number)) is None:
                raise ReviewError(self._why_not(len(self.without_pieces) or 1))
            counts[index] = np.bincount(pieces.clusters.ravel(), minlength=number + 1)[1:]
        return counts

    def _why_not(self, photos: int) -> str:
        return (
            f"parts cannot be split: {photos} of {len(self.images)} photos were labelled with "
            "--no-review or before version 0.2, or what was kept of them is damaged; label again"
        )

    def halves(self, review: Review, part: int) -> list[int]:
        """Return the small clusters to cut off a part, see `cut_in_two`.

        Parameters
        ----------
        review
            What the parts are made of by now.
        part
            The number of a part that is not merged into another one.

        Raises
        ------
        ReviewError
            It cannot be cut, or there is no such part.
        """
        members = [n for n in review.numbers(self.num_parts) if review.root(n) == part]
        of_cluster = review.part_of_clusters(self.clusters.parts)
        ours = np.flatnonzero(np.isin(of_cluster, members))
        try:
            weights = self.cluster_pixels.sum(axis=0)
            return cut_in_two(ours, self.clusters.centroids, weights).tolist()
        except ValueError as error:
            raise ReviewError(f"part {part} cannot be split: {error}") from error

    def fresh(self, review: Review) -> Review:
        """Return a review without what was mended of photos that were labelled anew since."""
        mended = {
            name: mend
            for name, mend in review.mended.items()
            if name in self.names and is_of(mend, self.folder, self.images[self.names[name]].stem)
        }
        return replace(review, mended=mended)

    def shares_of(self, review: Review, name: str, mend: Mend) -> Shares:
        """Return `Division.shares_of` of a mended photo, which is read once only."""
        division = self.divided(review)
        known = self._tallies.get(name)
        if known is None or known[0] is not mend:
            known = self._tallies[name] = (mend, division.tally(self.images[self.names[name]]))
        return division.shares_of(known[1])

    @cached_property
    def _tallies(self) -> dict[str, tuple[Mend, np.ndarray]]:
        return {}

    def divided(self, review: Review) -> Division:
        """Return how a review divides the photos."""
        return Division(self.folder, review, self.num_parts)

    def size(self, index: int) -> tuple[int, int]:
        """Return a photo's (H, W) from the header of its label map; raises `OutputError`."""
        name = f"{self.images[index].stem}.png"
        try:
            with open_image(self.folder / LABELS_FOLDER / name) as labels:
                return labels.height, labels.width
        except (OSError, SyntaxError, TooLargeError) as error:  # Pillow raises the first two
            raise OutputError(f"{name} cannot be read ({error}); {_AGAIN}") from error

    def photo(self, index: int, max_pixels: int) -> np.ndarray | None:
        """Return a photo, uint8 (h, w, 3) RGB of at most so many pixels.

        None if it is gone, or is another one now than the one that was labelled.
        """
        image = self.images[index]
        try:
            return None if image.is_replaced() else read_image(image.photo, max_pixels).pixels
        except ImageError:
            return None


def _is_sound(value: object) -> bool:
    """Return whether a value of `run.json` is an object of texts and numbers, or what has names."""
    return isinstance(value, dict) and not any(
        isinstance(v, dict | list) for name, v in value.items() if name != _NAMED
    )


def open_run(folder: Path) -> IndexedRun:
    """Open the output folder of a finished run.

    Raises
    ------
    InputError
        There is none, or no photo in it has a label map.
    OutputError
        Its list of results is damaged.
    """
    document = read_finished_run(folder)
    if not all(_is_sound(document.get(field, {})) for field in _OBJECTS):
        raise InputError(f"{folder / RUN_FILE} is damaged; {_AGAIN}")
    head = read_head(folder / RESULTS_FILE)
    images = [each for each in read_results(folder / RESULTS_FILE) if each.failure is None]
    if not images:
        raise InputError(f"{folder}: no photo has a label map; see {folder / 'failures.csv'}")
    if len({len(image.confidence or ()) for image in images}) != 1:
        raise InputError(f"{folder / RESULTS_FILE} is damaged; {_AGAIN}")
    return IndexedRun(folder, document, head.get("model_sha256", ""), images)
