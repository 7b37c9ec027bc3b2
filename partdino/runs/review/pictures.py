"""What the page shows of a photo, as bytes: the photo, its label map, an example of a part."""

from __future__ import annotations

import io
from collections.abc import Sequence

import cv2
import numpy as np
from PIL import Image

from partdino.images.sizes import resize_image
from partdino.runs.review.finished import IndexedRun
from partdino.runs.review.state import Review
from partdino.runs.writers.drawing import sample_nearest
from partdino.runs.writers.example import draw_example
from partdino.runs.writers.labels import label_png
from partdino.runs.writers.pieces import read_pieces
from partdino.runs.writers.sheet import fit

THUMBNAIL = (240, 320)  # the largest height and width in a grid
EXAMPLE = 160  # side of an example of a part

# Of a photo at its own resolution: a browser holds each pixel of it three times, at 4 bytes.
_MAX_PIXELS = 24_000_000
# An example shows no less than an eighth of a photo's longest side: that has 150 pixels here.
_EXAMPLE_PIXELS = 1_000_000
_QUALITY = {"thumbnail": 85, "whole": 92}


def photo_jpeg(run: IndexedRun, index: int, whole: bool) -> bytes | None:
    """Return a photo as JPEG, as large as `labels_png`; None if it is gone; raises `OutputError`.

    Parameters
    ----------
    run, index
        Which photo.
    whole
        At its own resolution, up to 24 million pixels; else as a thumbnail.
    """
    size = _size(run.size(index), whole)
    photo = run.photo(index, size[0] * size[1])
    if photo is None:
        return None
    return jpeg(resize_image(photo, size), _QUALITY["whole" if whole else "thumbnail"])


def labels_png(run: IndexedRun, review: Review, index: int, whole: bool) -> bytes:
    """Return a photo's labels, split and mended, as a grey PNG; raises `PartDinoError`.

    Grey, because a canvas gives the colours of an indexed one and not its labels.
    """
    return label_png(sized_labels(run, review, index, _size(run.size(index), whole)))


def whole_size(run: IndexedRun, index: int) -> tuple[int, int]:
    """Return the (h, w) that a photo has where it is asked for whole; raises `OutputError`."""
    return _size(run.size(index), True)


def sized_labels(run: IndexedRun, review: Review, index: int, size: tuple[int, int]) -> np.ndarray:
    """Return a photo's labels, split and mended, uint8 of a size up to its own.

    Raises
    ------
    PartDinoError
        They cannot be read.
    """
    division, image = run.divided(review), run.images[index]
    if division.changes(image.name) and size != run.size(index):
        return sample_nearest(division.small(image), size)  # quicker by ten times
    label_map = division.result(image).label_map
    return label_map if size == label_map.shape else sample_nearest(label_map, size)


def pieces_png(run: IndexedRun, review: Review, index: int) -> bytes | None:
    """Return what a photo can be mended by, as an RGB PNG; None where nothing is kept of it.

    Its red and green are the low and the high byte of the region of each pixel, its blue the label
    after splits, without what was mended. Raises `ReviewError`.
    """
    pieces = read_pieces(run.folder, run.images[index].stem, len(run.clusters.parts))
    if pieces is None:
        return None
    labels = pieces.labels(review.part_of_clusters(run.clusters.parts))
    planes = (pieces.regions & 255, pieces.regions >> 8, labels)
    stream = io.BytesIO()
    Image.fromarray(np.stack(planes, axis=-1).astype(np.uint8)).save(stream, "PNG")
    return stream.getvalue()


def example_jpeg(
    run: IndexedRun, review: Review, index: int, members: Sequence[int], colour: str
) -> bytes | None:
    """Return an example of a part as JPEG; None where there is none; raises `PartDinoError`.

    Parameters
    ----------
    run, review, index
        Which photo, and how it is divided.
    members
        The parts that the part is made of.
    colour
        ``#rrggbb`` of its outline.
    """
    labels = sized_labels(run, review, index, _within(run.size(index), _EXAMPLE_PIXELS))
    mask = np.isin(labels, members).astype(np.uint8)
    if not mask.any():
        return None
    x, y, width, height = cv2.boundingRect(mask)
    # No more of the photo than is seen: most of the time is spent on reading it.
    enlarged = min(1.0, EXAMPLE / max(width, height)) ** 2
    photo = run.photo(index, max(1, round(mask.size * enlarged)))
    if photo is None:
        return None
    outline = np.frombuffer(bytes.fromhex(colour[1:]), np.uint8)
    example = draw_example(photo, mask, 1, (x, y, width, height), outline, EXAMPLE)
    return jpeg(example, _QUALITY["thumbnail"])


def jpeg(picture: np.ndarray, quality: int) -> bytes:
    """Return a uint8 (h, w, 3) RGB picture as JPEG."""
    stream = io.BytesIO()
    Image.fromarray(picture).save(stream, "JPEG", quality=quality)
    return stream.getvalue()


def _size(shape: tuple[int, ...], whole: bool) -> tuple[int, int]:
    height, width = shape
    return _within(shape, _MAX_PIXELS) if whole else fit((height, width), THUMBNAIL)


def _within(shape: tuple[int, ...], pixels: int) -> tuple[int, int]:
    """A photo's size, reduced to at most so many pixels."""
    height, width = shape
    scale = min(1.0, (pixels / (height * width)) ** 0.5)
    return max(1, int(height * scale)), max(1, int(width * scale))
