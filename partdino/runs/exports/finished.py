"""What an export reads: a finished run as its review has it, one image at a time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from partdino.errors import InputError, OutputError
from partdino.images import read_image
from partdino.images.read import ImageError
from partdino.parts.instances import find_instances
from partdino.parts.result import PartSegmentation
from partdino.runs.folder import read_finished_run
from partdino.runs.result_log import RESULTS_FILE, Recorded, read_head, read_results
from partdino.runs.resume import share_of
from partdino.runs.review import (
    REVIEW_FILE,
    Division,
    Review,
    label_lookup,
    read_review,
    reviewed_parts,
)
from partdino.runs.writers.coco import part_categories

_TAKEN = ("object", "images", "masks")  # folders of exports
_LONGEST = 60  # characters, of names that may have 200


@dataclass(frozen=True)
class Part:
    """A part as other tools know it.

    Attributes
    ----------
    number
        1 to K: its value in label maps.
    name
        That of the review, or as in ``coco.json``: ``part_01``, ...; no other part has it.
    file_name
        The name as files and folders can have it.
    colour
        RGB, 0 to 255, of the review, or as in all pictures of a run.
    """

    number: int
    name: str
    file_name: str
    colour: tuple[int, int, int]

    @property
    def hex(self) -> str:
        """The colour as ``#rrggbb``."""
        return "#{:02x}{:02x}{:02x}".format(*self.colour)

    def of(self, instance: int | None) -> Part:
        """Return the part of one object, whose number follows the names; of None, itself."""
        if instance is None:
            return self
        name, file_name = f"{self.name} {instance}", f"{self.file_name} {instance}"
        return Part(self.number, name, file_name, self.colour)


@dataclass(frozen=True, eq=False)
class Objects:
    """How the objects of photos are told apart: by all parts, whichever are exported.

    Attributes
    ----------
    values
        uint8 (256,): as `ExportImage.values`, where all parts are exported.
    least_share
        As of `find_instances`.
    """

    values: np.ndarray
    least_share: float

    def of(self, labels: np.ndarray) -> np.ndarray:
        """Return the objects (H, W) of a label map as `Division` divides it."""
        return find_instances(self.values[labels], self.least_share)


@dataclass(frozen=True, eq=False)
class ExportImage:
    """An image of a finished run; its label map and its photo are read when they are asked for.

    Attributes
    ----------
    name
        The photo's name in the export.
    stem
        What its files are called there, before the suffix of each kind.
    photo_path
        Where the photo is, or its URL.
    recorded
        Its line in the list of results.
    division
        How the review divides the photos of the run.
    values
        uint8 (256,): what each value of its label map becomes, 0 of what is not exported.
    objects
        How objects are told apart; None: they are not.
    """

    name: str
    stem: str
    photo_path: str
    recorded: Recorded
    division: Division
    values: np.ndarray
    objects: Objects | None = None

    @cached_property
    def result(self) -> PartSegmentation:
        """The result, with the label map of the parts that are exported, uint8 (H, W).

        Raises
        ------
        InputError
            The label map is missing or damaged.
        ReviewError
            What the review divides it by is.
        """
        cure = "label again with partdino segment --overwrite"
        try:
            result = self.division.result(self.recorded)
        except OutputError as error:
            raise InputError(f"{error}; {cure}") from error
        labels = result.label_map
        exported = replace(result, label_map=self.values[labels])
        if self.objects is not None:
            exported = replace(exported, instances=self.objects.of(labels))
        kept = self.values[self.values > 0]
        if len(np.unique(kept)) == len(kept):  # nothing is merged
            return exported
        areas = np.zeros(result.num_parts + 1)
        for part in result.parts:
            areas[part.part] = part.area
        confidence, typicality = (
            merged(means, areas, self.values) for means in (result.confidence, result.typicality)
        )
        return replace(exported, confidence=confidence, typicality=typicality)

    @property
    def label_map(self) -> np.ndarray:
        """Of `result`."""
        return self.result.label_map

    def objects_apart(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yield a folder's name for each object, and the label map where the others are background.

        Where objects are not told apart, the name is empty and the label map has all; without any
        object, it is as if there were one.
        """
        result = self.result
        if result.instances is None:
            yield "", result.label_map
            return
        for instance in range(1, max(result.objects or 0, 1) + 1):
            yield str(instance), result.label_map * (result.instances == instance)

    @property
    def size(self) -> tuple[int, int]:
        """(H, W) of the upright photo."""
        height, width = self.label_map.shape
        return height, width

    def read_photo(self) -> np.ndarray:
        """Return the photo, uint8 (H, W, 3), upright, as large as the label map.

        Raises
        ------
        InputError
            It cannot be read (any more), or is another one than the run had.
        """
        self.check_version()
        photo = read_image(self.photo_path).pixels
        self.check_size(photo.shape[:2])
        return photo

    def check_version(self) -> None:
        """Raise `InputError` where the photo is known to be another one than was labelled."""
        if self.recorded.is_replaced():
            raise InputError(
                f"{self.photo_path}: the photo was replaced since it was labelled; label it again"
            )

    def check_size(self, size: tuple[int, ...]) -> None:
        """Raise `InputError` where a photo of this (H, W) is not the one that was labelled."""
        if size != self.size:
            raise ImageError(
                self.photo_path,
                f"{size[1]} x {size[0]} pixels, while its label map has "
                f"{self.size[1]} x {self.size[0]}: the photo was replaced; label it again",
            )


class FinishedRun:
    """The results of a run that has come to its end; nothing of it is changed.

    Parameters
    ----------
    folder
        The output folder.

    Attributes
    ----------
    num_parts : int
        K.
    num_images : int
        How many have a label map and are not excluded by the review.
    review : Review
        What a person said of it; an empty one where nobody did.

    Raises
    ------
    InputError
        There is no finished run, or nothing was labelled.
    OutputError
        The list of results is damaged.
    ReviewError
        The review is damaged, or of other parts.
    """

    def __init__(self, folder: Path) -> None:
        self._document = read_finished_run(folder)
        self.folder = folder
        self.review = Review("")
        first = next(iter(self), None)
        if first is None:
            raise InputError(f"{folder} holds no labelled image; see failures.csv in it")
        self.num_parts = len(first.confidence or [])
        model_sha256 = read_head(folder / RESULTS_FILE).get("model_sha256", "")
        self.review = read_review(folder, model_sha256, self.num_parts)
        self.division.check(read_results(folder / RESULTS_FILE))
        self.num_images = sum(1 for _ in self)
        if not self.num_images:
            raise InputError(f"the review of {folder} excludes every photo; take some back")

    def tell_of_review(self, say: Callable[[str], None]) -> None:
        """Say that the review is applied, if there is one."""
        if (self.folder / REVIEW_FILE).exists():
            say(f"the review in {self.folder / REVIEW_FILE} is applied")

    def __iter__(self) -> Iterator[Recorded]:
        """Yield what was recorded of each image that is exported, in the order of the run."""
        for recorded in read_results(self.folder / RESULTS_FILE):
            if recorded.failure is None and not self.excludes(recorded):
                yield recorded

    def excludes(self, recorded: Recorded) -> bool:
        """Return whether the review excludes an image."""
        return self.review.photos.get(recorded.name) == "excluded"

    def parts(self) -> list[Part]:
        """Return all parts that the review leaves, in order of their numbers."""
        found = [p for p in reviewed_parts(self.review, self.num_parts) if not p.background]
        numbers = part_categories(self.division.largest)
        usual = {each["id"]: each["name"] for each in numbers}
        said = {number: part.name for number, part in self.review.parts.items()}
        names = {p.part: said.get(p.part) or usual[p.part] for p in found}
        taken = Counter(file_name(name).casefold() for name in names.values())
        parts = []
        for each in found:
            name, file = names[each.part], file_name(names[each.part])
            if taken[file.casefold()] > 1 or file.casefold() in _TAKEN:
                name, file = f"{name} ({each.part})", f"{file} ({each.part})"
            red, green, blue = bytes.fromhex(each.colour[1:])
            parts.append(Part(each.part, name, file, (red, green, blue)))
        return parts

    @cached_property
    def division(self) -> Division:
        """How the review divides the photos."""
        return Division(self.folder, self.review, self.num_parts)

    @cached_property
    def objects(self) -> Objects | None:
        """How the run tells the objects of a photo apart; None: it does not."""
        share = share_of(self._document["fingerprint"])
        return None if share is None else Objects(self.values(self.parts()), share)

    def values(self, parts: Collection[Part]) -> np.ndarray:
        """Return what each label of `division` becomes, uint8 (256,), where parts are exported."""
        values = label_lookup(self.review, self.num_parts)
        values[~np.isin(values, [part.number for part in parts])] = 0
        return values


def merged(means: np.ndarray, areas: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the means of parts some of which become one.

    Parameters
    ----------
    means
        float32 (K,), over each part's area.
    areas
        (K + 1,), pixels of the background and of each part, before they become one.
    values
        uint8 (256,), what each label becomes.

    Returns
    -------
    float32 (K,); 0 where there is nothing.

    Examples
    --------
    >>> means, values = np.array([0.75, 0.25], np.float32), np.array([0, 1, 1])
    >>> merged(means, np.array([0, 1, 1]), values).tolist()
    [0.5, 0.0]
    """
    size = len(areas)
    sums = np.bincount(values[:size], areas * np.append(0, means), minlength=size)
    totals = np.bincount(values[:size], areas, minlength=size)
    return (sums / np.maximum(totals, 1))[1:].astype(np.float32)


def file_name(name: str) -> str:
    """Return a part's name as files and folders can have it.

    >>> file_name("left/right wing"), file_name("..")
    ('left_right wing', '__')
    """
    safe = re.sub(r'[\\/:*?"<>|#]|^\.+|[. ]+$', lambda found: "_" * len(found[0]), name)
    return safe[:_LONGEST]
