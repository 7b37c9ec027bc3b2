"""An example of a part: cut out of a photo with some context, the rest dimmed."""

from __future__ import annotations

import cv2
import numpy as np

from partdino.images.sizes import resize_image
from partdino.runs.writers import sheet
from partdino.runs.writers.drawing import highlight_part, sample_nearest

_CONTEXT = 1.4  # side of an example's window over that of the part's box
_SMALLEST_WINDOW = 0.12  # of the photo's longest side: keeps tiny parts recognisable


def draw_example(
    photo: np.ndarray,
    label_map: np.ndarray,
    part: int,
    box: tuple[int, int, int, int],
    colour: np.ndarray,
    side: int,
) -> np.ndarray:
    """Return a part with some context around it.

    Parameters
    ----------
    photo
        uint8 (h, w, 3) RGB, possibly decoded smaller than the label map.
    label_map
        uint8 (H, W) of the same view.
    part
        Its number in the label map.
    box
        (x, y, width, height) of it there.
    colour
        uint8 (3,) RGB of its outline.
    side
        What the longer side of the example has, in pixels.

    Returns
    -------
    np.ndarray
        uint8 (h, w, 3) RGB.
    """
    window = _square_window(box, label_map.shape)
    scale = np.divide(photo.shape[:2], label_map.shape)
    view = photo[_scaled(window[0], scale[0]), _scaled(window[1], scale[1])]
    labels = label_map[window]
    size = sheet.fit(view.shape[:2], (side, side))
    mask = sample_nearest(labels, tuple(np.minimum(size, labels.shape))) == part
    smooth = cv2.resize(mask.astype(np.float32), size[::-1], interpolation=cv2.INTER_LINEAR) > 0.5
    return highlight_part(resize_image(view, size), smooth, colour)


def _square_window(box: tuple[int, int, int, int], shape: tuple[int, ...]) -> tuple[slice, slice]:
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
