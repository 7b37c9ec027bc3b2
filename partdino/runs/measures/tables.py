"""`measurements.csv`, a row a part of a photo, and `photos.csv`, a wide row a photo."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from partdino.errors import InputError
from partdino.parts.measures import MEASURES, PartMeasures
from partdino.runs.measures.odd import OddPhotos
from partdino.runs.measures.photo import PhotoMeasures
from partdino.runs.measures.scales import Scales
from partdino.runs.measures.user_table import Joined
from partdino.runs.review import Review

Row = list[Any]

_LENGTHS = ("perimeter_px", "equivalent_diameter_px", "axis_major_px", "axis_minor_px")
_IN_MM = ("area_mm2", *(name.replace("_px", "_mm") for name in _LENGTHS))
_ZERO_WHERE_ABSENT = ("area_px", "share_of_object", "share_of_photo", "pieces", "area_mm2")
_PHOTO = (
    *("odd", "photo_width_px", "photo_height_px", "object_area_px", "object_share_of_photo"),
    *("parts_present", "mean_confidence", "foreground_confidence"),
)
_SAID = ("checked", "mended")
_DIGITS = 6  # significant ones


@dataclass(frozen=True)
class Tables:
    """The columns and rows of both tables.

    Attributes
    ----------
    parts
        The names of the parts, by number.
    scales, metadata
        What the user has told of the photos, or None.
    review
        What a person has said, None where nothing: then the tables lack its columns.
    instances
        Whether objects are told apart: then a row of `measurements.csv` is a part of an object.
    """

    parts: Mapping[int, str]
    scales: Scales | None
    metadata: Joined | None
    review: Review | None
    instances: bool = False

    def __post_init__(self) -> None:
        ours = {
            *self._measurements(),
            *self._photos(),
            *self._instance,
            *self._objects,
            *(("name", *_SAID) if self.review else ()),
        }
        if twice := [column for column in self._told if column in ours]:
            raise InputError(
                f"--metadata: column '{twice[0]}' is one of the measurements'; rename it"
            )

    @property
    def measures(self) -> tuple[str, ...]:
        """The columns that are measured of a part."""
        return (*MEASURES, "mean_confidence", *(_IN_MM if self.scales else ()))

    def measurements_header(self) -> Row:
        """Return the columns of `measurements.csv`."""
        own = self._measurements()
        name = ["name"] if self.review else []
        return [*own[:2], *self._instance, *name, *self._told, *own[2:]]

    def photos_header(self) -> Row:
        """Return the columns of `photos.csv`."""
        own = self._photos()
        said = _SAID if self.review else ()
        return [*own[:2], *said, *self._told, *own[2:4], *self._objects, *own[4:]]

    def measurements(self, photos: Iterable[PhotoMeasures]) -> Iterator[Row]:
        """Yield the rows of `measurements.csv`."""
        for photo in photos:
            size = [photo.width, photo.height]
            for instance, part in photo.rows:
                values = self.values(photo, part)
                number = [instance] if self.instances else []
                name = [self.parts[part.part]] if self.review else []
                yield [
                    *(photo.name, part.part, *number, *name, *self._row(photo)),
                    *(*size, *self._scale(photo)),
                    *(rounded(values[name]) for name in self.measures),
                ]

    def photos(self, photos: Iterable[PhotoMeasures], odd: OddPhotos) -> Iterator[Row]:
        """Yield the rows of `photos.csv`."""
        for photo in photos:
            yield [
                *(photo.name, odd.of(photo), *self._said(photo), *self._row(photo)),
                *self._whole(photo),
                *self._scale(photo),
                *(rounded(value) for value in self._wide(photo)),
            ]

    def values(self, photo: PhotoMeasures, part: PartMeasures) -> dict[str, Any]:
        """Return all that is measured of a part, by column."""
        values = {**vars(part), "mean_confidence": photo.confidence[part.part - 1]}
        if self.scales:
            scale = self.scales.of(photo.name)
            values["area_mm2"] = scale and part.area_px / scale**2
            for length, column in zip(_LENGTHS, _IN_MM[1:], strict=True):
                values[column] = scale and values[length] / scale
        return values

    @property
    def _instance(self) -> tuple[str, ...]:
        return ("instance",) if self.instances else ()

    @property
    def _objects(self) -> tuple[str, ...]:
        return ("objects",) if self.instances else ()

    @property
    def _told(self) -> tuple[str, ...]:
        return self.metadata.columns if self.metadata else ()

    def _measurements(self) -> Row:
        return ["image", "part", *_PHOTO[1:3], *self._scale_column, *self.measures]

    def _photos(self) -> Row:
        wide = [f"part_{part}_{name}" for part in self.parts for name in self.measures]
        return ["image", *_PHOTO, *self._scale_column, *wide]

    @property
    def _scale_column(self) -> tuple[str, ...]:
        return ("px_per_mm",) if self.scales else ()

    def _scale(self, photo: PhotoMeasures) -> Row:
        return [rounded(self.scales.of(photo.name))] if self.scales else []

    def _row(self, photo: PhotoMeasures) -> tuple[str, ...]:
        return self.metadata.row(photo.name) if self.metadata else ()

    def _said(self, photo: PhotoMeasures) -> Row:
        if self.review is None:
            return []
        return [self.review.photos.get(photo.name), "yes" if photo.mended else None]

    def _whole(self, photo: PhotoMeasures) -> Row:
        if photo.failure is not None:
            return [None] * (len(_PHOTO) - 1 + len(self._objects))
        size, area = (photo.width, photo.height), photo.object_area
        share = rounded(area / (photo.width * photo.height))
        objects = [len(photo.objects or ())] if self.instances else []
        sure = (rounded(photo.mean_confidence), rounded(photo.foreground_confidence))
        return [*size, *objects, area, share, len(photo.parts), *sure]

    def _wide(self, photo: PhotoMeasures) -> Iterator[Any]:
        present = {part.part: self.values(photo, part) for part in photo.parts}
        for part in self.parts:
            for name in self.measures:
                absent = 0 if name in _ZERO_WHERE_ABSENT and photo.failure is None else None
                yield present[part][name] if part in present else absent


def rounded(value: Any) -> Any:
    """Return a number with as many digits as a table needs; others and None as they are."""
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value
