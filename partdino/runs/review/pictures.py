"""What the page shows of a photo, as bytes: the photo, its label map, an example of a part."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
from PIL import Image

from partdino.images.sizes import resize_image
from partdino.parts.result import PartGeometry, part_geometry
from partdino.runs.review.finished import FinishedRun
from partdino.runs.writers.drawing import sample_nearest
from partdino.runs.writers.example import draw_example
from partdino.runs.writers.labels import label_png
from partdino.runs.writers.sheet import fit

THUMBNAIL = (240, 320)  # the largest height and width in a grid
EXAMPLE = 160  # side of an example of a part

# Of a photo at its own resolution: a browser holds each pixel of it three times, at 4 bytes.
_MAX_PIXELS = 24_000_000
_EXAMPLE_PIXELS = 2_000_000
_QUALITY = {"thumbnail": 85, "whole": 92}


def photo_jpeg(run: FinishedRun, index: int, whole: bool) -> bytes | None:
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


def labels_png(run: FinishedRun, index: int, whole: bool) -> bytes:
    """Return a photo's label map as the run left it, as a grey PNG; raises `OutputError`.

    Grey, because a canvas gives the colours of an indexed one and not its labels.
    """
    label_map = run.label_map(index)
    size = _size(label_map.shape, whole)
    labels = label_map if size == label_map.shape else sample_nearest(label_map, size)
    return label_png(labels)


def example_jpeg(run: FinishedRun, index: int, members: Sequence[int], colour: str) -> bytes | None:
    """Return an example of a part as JPEG; None where there is none; raises `OutputError`.

    Parameters
    ----------
    run, index
        Which photo.
    members
        The parts of the run that the part is made of.
    colour
        ``#rrggbb`` of its outline.
    """
    mask = np.isin(run.label_map(index), members).astype(np.uint8)
    geometries: list[PartGeometry] = part_geometry(mask, 1)
    photo = run.photo(index, _EXAMPLE_PIXELS)
    if not geometries or photo is None:
        return None
    outline = np.frombuffer(bytes.fromhex(colour[1:]), np.uint8)
    return jpeg(draw_example(photo, mask, geometries[0], outline, EXAMPLE), _QUALITY["thumbnail"])


def jpeg(picture: np.ndarray, quality: int) -> bytes:
    """Return a uint8 (h, w, 3) RGB picture as JPEG."""
    stream = io.BytesIO()
    Image.fromarray(picture).save(stream, "JPEG", quality=quality)
    return stream.getvalue()


def _size(shape: tuple[int, ...], whole: bool) -> tuple[int, int]:
    height, width = shape
    if not whole:
        return fit((height, width), THUMBNAIL)
    scale = min(1.0, (_MAX_PIXELS / (height * width)) ** 0.5)
    return max(1, int(height * scale)), max(1, int(width * scale))
