"""What a format is: a class that takes one image after another and writes to a folder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

from partdino.runs.exports.finished import ExportImage, Part
from partdino.runs.exports.image_ids import ImageIds
from partdino.runs.writers.palette import part_colours


@dataclass(frozen=True)
class Target:
    """Where an export goes, and what it has of the run.

    Attributes
    ----------
    out
        The folder to write to; it is there and empty.
    parts
        Those that are exported, in order of their numbers.
    photos
        Whether the export has copies of the photos.
    ids
        The numbers of images in COCO files.
    warn
        Tells the user something that may need action.
    """

    out: Path
    parts: Sequence[Part]
    photos: bool
    ids: ImageIds
    warn: Callable[[str], None]

    @cached_property
    def palette(self) -> np.ndarray:
        """The colours of label values, uint8 (256, 3) RGB; 0 is black."""
        colours = part_colours().copy()
        for part in self.parts:
            colours[part.number] = part.colour
        return colours

    def part(self, number: int) -> Part:
        """Return the part of a number."""
        return next(part for part in self.parts if part.number == number)


class Exporter(ABC):
    """A format; the attributes of the class say what is known of it before an export.

    Attributes
    ----------
    help : str
        What it is, in a few words for the command line.
    photo_folder : str
        Where copies of the photos go, relative to the folder of the export.
    needs_photos : bool
        Whether it is of no use without copies of the photos.
    takes_ids : bool
        Whether its images have numbers that ``--coco-ids`` can give.
    knows_by_stem : bool
        Whether its tools find what belongs to a photo by the photo's name without the suffix.
    """

    help: ClassVar[str]
    photo_folder: ClassVar[str] = "images"
    needs_photos: ClassVar[bool] = False
    takes_ids: ClassVar[bool] = False
    knows_by_stem: ClassVar[bool] = False

    def __init__(self, target: Target) -> None:
        self.out, self.target = target.out, target

    @classmethod
    def file(cls, stem: str) -> str | None:
        """Return a file that an image has of its own, relative to the export's folder.

        Parameters
        ----------
        stem
            As of `ExportImage`: no two images share it.

        Returns
        -------
        str or None
            None: the format has no files of single images.
        """
        return None

    @abstractmethod
    def add(self, image: ExportImage) -> None:
        """Take an image.

        Raises
        ------
        InputError
            Its label map or photo cannot be read: the others still go through.
        OutputError
            Something cannot be written.
        """

    def close(self) -> None:  # noqa: B027 (most formats have nothing to finish)
        """Finish the files that cover all images; raises `OutputError`."""
