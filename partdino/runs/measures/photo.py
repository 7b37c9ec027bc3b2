"""The measurements of one photo of a finished run, and how they are kept until all are there."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass

import numpy as np

from partdino.errors import InputError
from partdino.images import read_image
from partdino.parts.measures import PartMeasures, measure_parts
from partdino.runs.exports.finished import ExportImage
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
    photo_replaced
        Whether it is another one than was labelled, and was not read therefore.
    confidence
        Mean confidence of each of the K parts in [0, 1]; empty after a failure.
    parts
        The parts that are present.
    mended
        Whether a person has mended the photo in the review.
    failure
        Why there are none, or None.
    """

    name: str
    width: int = 0
    height: int = 0
    foreground_found: bool = False
    photo_found: bool = False
    photo_replaced: bool = False
    confidence: tuple[float, ...] = ()
    parts: tuple[PartMeasures, ...] = ()
    mended: bool = False
    failure: str | None = None

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
        parts = tuple(PartMeasures(**part) for part in values.pop("parts"))
        return cls(**{**values, "confidence": tuple(values["confidence"]), "parts": parts})


def measure_photo(recorded: Recorded, division: Division, values: np.ndarray) -> PhotoMeasures:
    """Measure the parts of a photo, with its colours at its own resolution if it can be read.

    Parameters
    ----------
    recorded
        Of an image that has a result.
    division, values
        How the review divides the photos of the run, and what its labels become, as of
        `partdino.runs.exports.finished.ExportImage`.

    Raises
    ------
    PartDinoError
        The label map is missing or damaged, or the photo is not the one that was labelled.
    """
    result = ExportImage(recorded.name, recorded.photo, recorded, division, values).result
    height, width = result.label_map.shape
    replaced, photo = recorded.is_replaced(), None
    if not replaced:
        with suppress(InputError):
            photo = read_image(recorded.photo).pixels
    if photo is not None and photo.shape[:2] != (height, width):
        now = f"{photo.shape[1]}x{photo.shape[0]}"
        raise InputError(f"is {now} now and was {width}x{height} when labelled; label it again")
    return PhotoMeasures(
        name=recorded.name,
        width=width,
        height=height,
        foreground_found=result.foreground_found,
        photo_found=photo is not None,
        photo_replaced=replaced,
        confidence=tuple(result.confidence.tolist()),
        parts=tuple(measure_parts(result.label_map, photo)),
        mended=recorded.name in division.review.mended,
    )
