"""The measurements of one photo of a finished run, and how they are kept until all are there."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from partdino.errors import InputError
from partdino.images import read_image
from partdino.parts.measures import PartMeasures, measure_parts
from partdino.parts.result import PartSegmentation
from partdino.runs.exports.finished import ExportImage, Objects
from partdino.runs.result_log import Recorded
from partdino.runs.review import Division


@dataclass(frozen=True)
class PhotoMeasures:
    """What was measured of a photo.

    Attributes
    ----------
    name
        The image's name.
    width, height
        Of the upright photo, in pixels; 0 after a failure.
    foreground_found, photo_found
        Whether there is an object, and whether the photo could be read for its colours.
    foreground_confidence
        How sure its outline is, in [0, 1]; None where it is not known.
    photo_replaced
        Whether it is another one than was labelled, and was not read therefore.
    confidence
        Mean confidence of each of the K parts in [0, 1]; empty after a failure.
    parts
        The parts that are present.
    objects
        The parts of each object, where the run tells them apart; else None.
    mended
        Whether a person has mended the photo in the review.
    failure
        Why there are none, or None.
    """

    name: str
    width: int = 0
    height: int = 0
    foreground_found: bool = False
    foreground_confidence: float | None = None
    photo_found: bool = False
    photo_replaced: bool = False
    confidence: tuple[float, ...] = ()
    parts: tuple[PartMeasures, ...] = ()
    objects: tuple[tuple[PartMeasures, ...], ...] | None = None
    mended: bool = False
    failure: str | None = None

    @property
    def rows(self) -> list[tuple[int | None, PartMeasures]]:
        """What is one row each: the parts, with the number of their object if there is one."""
        if self.objects is None:
            return [(None, part) for part in self.parts]
        numbered = enumerate(self.objects, start=1)
        return [(number, part) for number, parts in numbered for part in parts]

    @property
    def object_area(self) -> int:
        """Pixels of all parts."""
        return sum(part.area_px for part in self.parts)

    @property
    def mean_confidence(self) -> float | None:
        """Mean confidence over the object's pixels, in [0, 1]; None without an object."""
        if not self.parts:
            return None
        return sum(self.confidence[p.part - 1] * p.share_of_object for p in self.parts)

    def dump(self) -> str:
        """Return one line of text that `load` reads."""
        return json.dumps(asdict(self))

    @classmethod
    def load(cls, line: str) -> PhotoMeasures:
        """Return what `dump` made a line of."""
        values = json.loads(line)
        values["confidence"] = tuple(values["confidence"])
        values["parts"] = _parts(values["parts"])
        if values["objects"] is not None:
            values["objects"] = tuple(map(_parts, values["objects"]))
        return cls(**values)


def _parts(measured: Iterable[dict[str, Any]]) -> tuple[PartMeasures, ...]:
    return tuple(PartMeasures(**part) for part in measured)


def measure_photo(
    recorded: Recorded, division: Division, values: np.ndarray, objects: Objects | None = None
) -> PhotoMeasures:
    """Measure the parts of a photo, with its colours at its own resolution if it can be read.

    Parameters
    ----------
    recorded
        Of an image that has a result.
    division, values, objects
        How the review divides the photos of the run, what its labels become, and how objects are
        told apart, as of `partdino.runs.exports.finished.ExportImage`.

    Raises
    ------
    PartDinoError
        The label map is missing or damaged, or the photo is not the one that was labelled.
    """
    of_run = (division, values, objects)
    image = ExportImage(recorded.name, recorded.stem, recorded.photo, recorded, *of_run)
    result = image.result
    height, width = image.size
    replaced, photo = recorded.is_replaced(), None
    if not replaced:
        with suppress(InputError):
            photo = read_image(recorded.photo).pixels
    if photo is not None:
        image.check_size(photo.shape[:2])
    parts = tuple(measure_parts(result.label_map, photo))
    return PhotoMeasures(
        name=recorded.name,
        width=width,
        height=height,
        foreground_found=result.foreground_found,
        foreground_confidence=result.foreground_confidence,
        photo_found=photo is not None,
        photo_replaced=replaced,
        confidence=tuple(result.confidence.tolist()),
        parts=parts,
        objects=_measure_objects(result, parts, photo),
        mended=recorded.name in division.review.mended,
    )


def _measure_objects(
    result: PartSegmentation, parts: tuple[PartMeasures, ...], photo: np.ndarray | None
) -> tuple[tuple[PartMeasures, ...], ...] | None:
    if result.instances is None:
        return None
    count = result.objects or 0
    if count < 2:
        return (parts,) * count
    each = (result.label_map * (result.instances == n) for n in range(1, count + 1))
    return tuple(tuple(measure_parts(labels, photo)) for labels in each)
