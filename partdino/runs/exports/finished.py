"""What an export reads: a finished run, one image at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath

import numpy as np

from partdino.errors import InputError, OutputError
from partdino.images import read_image
from partdino.parts.result import PartSegmentation
from partdino.runs.folder import is_unfinished, read_run
from partdino.runs.result_log import RESULTS_FILE, Recorded, read_results
from partdino.runs.writers.coco import part_categories
from partdino.runs.writers.palette import part_colours


@dataclass(frozen=True)
class Part:
    """A part as other tools know it.

    Attributes
    ----------
    number
        1 to K: its value in label maps.
    name
        As in ``coco.json``: ``part_01``, ...
    colour
        RGB, 0 to 255, as in all pictures of a run.
    """

    number: int
    name: str
    colour: tuple[int, int, int]

    @property
    def hex(self) -> str:
        """The colour as ``#rrggbb``."""
        return "#{:02x}{:02x}{:02x}".format(*self.colour)


@dataclass(frozen=True, eq=False)
class ExportImage:
    """An image of a finished run; its label map and its photo are read when they are asked for.

    Attributes
    ----------
    name
        The photo's name in the export.
    photo_path
        Where the photo is, or its URL.
    recorded, folder, kept
        Its line in the list of results, the output folder, and the numbers of the parts that are
        exported.
    """

    name: str
    photo_path: str
    recorded: Recorded
    folder: Path
    kept: Collection[int]

    @property
    def stem(self) -> str:
        """The name without its suffix."""
        return stem(self.name)

    @cached_property
    def result(self) -> PartSegmentation:
        """The result, with the label map of the parts that are exported, uint8 (H, W).

        Raises
        ------
        InputError
            The label map is missing or damaged.
        """
        cure = "label again with partdino segment --overwrite"
        try:
            result = self.recorded.recall(self.folder)
        except OutputError as error:
            raise InputError(f"{error}; {cure}") from error
        labels = result.label_map
        if labels.dtype != np.uint8 or labels.ndim != 2 or labels.max() > result.num_parts:
            raise InputError(f"the label map of {self.recorded.name} is of something else; {cure}")
        values = np.zeros(256, np.uint8)
        values[list(self.kept)] = list(self.kept)
        return replace(result, label_map=values[labels])

    @property
    def label_map(self) -> np.ndarray:
        """Of `result`."""
        return self.result.label_map

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
        photo = read_image(self.photo_path).pixels
        self.check_size(photo.shape[:2])
        return photo

    def check_size(self, size: tuple[int, ...]) -> None:
        """Raise `InputError` where a photo of this (H, W) is not the one that was labelled."""
        if size != self.size:
            raise InputError(
                f"{self.photo_path}: {size[1]} x {size[0]} pixels, while its label map has "
                f"{self.size[1]} x {self.size[0]}: the photo was replaced; label it again"
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
        How many have a label map.

    Raises
    ------
    InputError
        There is no finished run, or nothing was labelled.
    OutputError
        The list of results is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if is_unfinished(folder):
            raise InputError(
                f"{folder} holds an unfinished run; finish it with partdino segment --resume"
            )
        if "fingerprint" not in read_run(folder) or not (folder / RESULTS_FILE).is_file():
            raise InputError(
                f"{folder} holds no finished run; name the --out folder of partdino segment"
            )
        self.num_images, self.num_parts = 0, 0
        for recorded in self:
            self.num_images += 1
            self.num_parts = len(recorded.confidence or [])
        if not self.num_images:
            raise InputError(f"{folder} holds no labelled image; see failures.csv in it")

    def __iter__(self) -> Iterator[Recorded]:
        """Yield what was recorded of each image that has a label map, in the order of the run."""
        for recorded in read_results(self.folder / RESULTS_FILE):
            if recorded.failure is None:
                yield recorded

    def parts(self) -> list[Part]:
        """Return all parts, in order of their numbers."""
        colours = part_colours()
        return [
            Part(each["id"], each["name"], tuple(colours[each["id"]].tolist()))
            for each in part_categories(self.num_parts)
        ]


def stem(name: str) -> str:
    """Return a name, with its folders, without the suffix.

    >>> stem("a.b/bird.2.jpg")
    'a.b/bird.2'
    """
    return str(PurePosixPath(name).with_suffix(""))
