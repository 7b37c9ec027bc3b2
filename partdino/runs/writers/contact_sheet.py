"""`contact_sheet.jpg`: many images at a glance, and what every part looks like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path

import cv2
import numpy as np

from partdino.files import atomic_path
from partdino.images.sizes import resize_image
from partdino.parts.result import PartGeometry, PartSegmentation
from partdino.runs.writers import sheet
from partdino.runs.writers.drawing import highlight_part, sample_nearest
from partdino.runs.writers.selection import Best, EvenSample

MAX_IMAGES = 60
MAX_ROWS = 50

_CONTEXT = 1.4  # side of an example's window over that of the part's box
_SMALLEST_WINDOW = 0.12  # of the photo's longest side: keeps tiny parts recognisable
_QUALITY = 90
_GREY = 128


class ContactSheetWriter:
    """Draws one sheet of up to 60 images and, for each part, its 8 most typical examples.

    The images are spread evenly over the run. Above 50 parts only the 50 largest get a row of
    examples. Memory does not grow with the number of images: some 60 MB for the images and 1 MB
    for each part.

    Parameters
    ----------
    out
        The run's output folder.
    notes
        Sentences on how the parts were made, for the foot of the sheet.
    """

    def __init__(self, out: Path, notes: Sequence[str] = ()) -> None:
        self._path = out / "contact_sheet.jpg"
        self._notes = notes
        self._images: EvenSample[sheet.Thumbnail] = EvenSample(MAX_IMAGES)
        self._examples: dict[int, Best[np.ndarray]] = {}
        self._area: dict[int, float] = {}
        self._num_parts = 0

    def add(self, result: PartSegmentation, photo: Callable[[], np.ndarray | None]) -> None:
        """Consider one image and its parts for the sheet.

        Parameters
        ----------
        result
            The parts of the image.
        photo
            Reads the photo, uint8 (h, w, 3) RGB; called only if the sheet is to show it. None, if
            the photo is lost, makes it grey.
        """
        self._num_parts = result.num_parts
        read = cache(lambda: _or_grey(photo(), result.label_map.shape))
        self._images.offer(lambda: _thumbnail(result, read()))
        for geometry in result.parts:
            part = geometry.part
            self._area[part] = self._area.get(part, 0) + geometry.area / result.label_map.size
            self._examples.setdefault(part, Best(sheet.EXAMPLES)).offer(
                float(result.typicality[part - 1]),
                partial(_read_example, result, read, geometry),
            )

    def close(self) -> None:
        """Draw and write the sheet, unless there was no image at all; raises `OutputError`."""
        if not self._images.seen:
            return
        drawn = sheet.draw(
            self._images.take(), self._images.seen, self._num_parts, self._rows(), self._notes
        )
        with atomic_path(self._path) as temporary:
            drawn.save(temporary, "JPEG", quality=_QUALITY, subsampling=0)

    def _rows(self) -> list[sheet.PartRow]:
        largest = sorted(self._area, key=lambda part: (-self._area[part], part))[:MAX_ROWS]
        return [
            sheet.PartRow(
                part=part,
                num_images=self._examples[part].seen,
                area_fraction=self._area[part] / self._images.seen,
                examples=self._examples[part].take(),
            )
            for part in sorted(largest)
        ]


def _or_grey(photo: np.ndarray | None, size: tuple[int, int]) -> np.ndarray:
    return np.full((*size, 3), _GREY, np.uint8) if photo is None else photo


def _thumbnail(result: PartSegmentation, image: np.ndarray) -> sheet.Thumbnail:
    size = sheet.fit(image.shape[:2], (sheet.IMAGE_HEIGHT, sheet.IMAGE_WIDTH))
    labels = sample_nearest(result.label_map, size)
    return sheet.Thumbnail(result.name, resize_image(image, size), labels)


def _read_example(
    result: PartSegmentation, read: Callable[[], np.ndarray], geometry: PartGeometry
) -> np.ndarray:
    return _example(result, read(), geometry)


def _example(result: PartSegmentation, image: np.ndarray, geometry: PartGeometry) -> np.ndarray:
    """The part with some context around it, the longer side as long as a tile of the sheet."""
    window = _square_window(geometry.box, result.label_map.shape)
    scale = np.divide(image.shape[:2], result.label_map.shape)
    photo = image[_scaled(window[0], scale[0]), _scaled(window[1], scale[1])]
    labels = result.label_map[window]
    size = sheet.fit(photo.shape[:2], (sheet.TILE, sheet.TILE))
    mask = sample_nearest(labels, tuple(np.minimum(size, labels.shape))) == geometry.part
    smooth = cv2.resize(mask.astype(np.float32), size[::-1], interpolation=cv2.INTER_LINEAR) > 0.5
    return highlight_part(resize_image(photo, size), smooth, geometry.part)


def _square_window(box: tuple[int, int, int, int], shape: tuple[int, int]) -> tuple[slice, slice]:
    """A square around a box, moved into the image where it sticks out, cut where it is larger."""
    x, y, width, height = box
    side = round(max(_CONTEXT * max(width, height), _SMALLEST_WINDOW * max(shape), 1))
    window = []
    for start, length, limit in ((y, height, shape[0]), (x, width, shape[1])):
        first = min(max(0, start + (length - side) // 2), max(0, limit - side))
        window.append(slice(first, min(limit, first + side)))
    return window[0], window[1]


def _scaled(window: slice, scale: float) -> slice:
    first = int(window.start * scale)
    return slice(first, max(first + 1, round(window.stop * scale)))
