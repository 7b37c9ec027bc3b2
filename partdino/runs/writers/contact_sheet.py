"""`contact_sheet.jpg`: many images at a glance, and what every part looks like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

import numpy as np

from partdino.files import atomic_path
from partdino.images.sizes import resize_image
from partdino.parts.naming import Naming
from partdino.parts.result import PartGeometry, PartSegmentation
from partdino.runs.writers import sheet
from partdino.runs.writers.drawing import sample_nearest
from partdino.runs.writers.example import draw_example
from partdino.runs.writers.kept import KeptResult
from partdino.runs.writers.palette import colours_of
from partdino.runs.writers.selection import Best, EvenSample

T = TypeVar("T")

MAX_IMAGES = 60
MAX_ROWS = 50
_READERS = 4  # photos that are read at once where the sheet is drawn: more would take memory

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
    naming
        What the parts are called, None: by their numbers.
    """

    def __init__(self, out: Path, notes: Sequence[str] = (), naming: Naming | None = None) -> None:
        self._path = out / "contact_sheet.jpg"
        self._notes = notes
        self._naming, self._colours = naming, colours_of(naming)
        self._images: EvenSample[Callable[[], sheet.Thumbnail]] = EvenSample(MAX_IMAGES)
        self._examples: dict[int, Best[Callable[[], np.ndarray]]] = {}
        self._area: dict[int, float] = {}
        self._num_parts = 0

    def add(
        self, result: PartSegmentation | KeptResult, photo: Callable[[], np.ndarray | None]
    ) -> None:
        """Consider one image and its parts for the sheet.

        Of a `KeptResult`, photo and label map are read only when the sheet is drawn, and only if
        they are on it.

        Parameters
        ----------
        result
            The parts of the image.
        photo
            Reads the photo, uint8 (h, w, 3) RGB; called only if the sheet is to show it. None, if
            the photo is lost, makes it grey.
        """
        self._num_parts = result.num_parts
        height, width = result.size
        late = isinstance(result, KeptResult)

        def read() -> np.ndarray:
            return _or_grey(photo(), (height, width))

        if not late:
            read = cache(read)
        drawn = _made if not late else _to_make
        self._images.offer(partial(drawn, partial(_thumbnail, result, read)))
        largest: dict[int, PartGeometry] = {}  # of several objects', one is the photo's example
        for geometry in result.parts:
            part = geometry.part
            self._area[part] = self._area.get(part, 0) + geometry.area / (height * width)
            largest[part] = max(largest.get(part, geometry), geometry, key=lambda each: each.area)
        for part, geometry in largest.items():
            self._examples.setdefault(part, Best(sheet.EXAMPLES)).offer(
                float(result.typicality[part - 1]),
                partial(drawn, partial(_read_example, result, read, geometry, self._colours[part])),
            )

    def close(self) -> None:
        """Draw and write the sheet, unless there was no image at all; raises `OutputError`."""
        if not self._images.seen:
            return
        drawn = sheet.draw(
            _all_made(self._images.take()),
            self._images.seen,
            self._num_parts,
            self._rows(),
            self._notes,
            self._naming,
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
                examples=_all_made(self._examples[part].take()),
            )
            for part in sorted(largest)
        ]


def _or_grey(photo: np.ndarray | None, size: tuple[int, int]) -> np.ndarray:
    return np.full((*size, 3), _GREY, np.uint8) if photo is None else photo


def _made(make: Callable[[], T]) -> Callable[[], T]:
    made = make()
    return lambda: made


def _to_make(make: Callable[[], T]) -> Callable[[], T]:
    return make


def _all_made(makers: Sequence[Callable[[], T]]) -> list[T]:
    with ThreadPoolExecutor(_READERS) as threads:
        return list(threads.map(lambda make: make(), makers))


def _thumbnail(
    result: PartSegmentation | KeptResult, read: Callable[[], np.ndarray]
) -> sheet.Thumbnail:
    image = read()
    size = sheet.fit(image.shape[:2], (sheet.IMAGE_HEIGHT, sheet.IMAGE_WIDTH))
    labels = sample_nearest(result.label_map, size)
    return sheet.Thumbnail(result.name, resize_image(image, size), labels)


def _read_example(
    result: PartSegmentation | KeptResult,
    read: Callable[[], np.ndarray],
    geometry: PartGeometry,
    colour: np.ndarray,
) -> np.ndarray:
    part, box = geometry.part, geometry.box
    return draw_example(read(), result.label_map, part, box, colour, sheet.TILE)
