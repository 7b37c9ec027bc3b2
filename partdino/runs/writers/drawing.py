"""Parts drawn on a photo: pure functions over arrays, shared by the overlays and the sheet."""

from __future__ import annotations

import cv2
import numpy as np

from partdino.runs.writers.palette import part_colours

_TINT = 0.5  # opacity of a part's colour: the photo's texture stays visible
_DIMMED = 0.55  # brightness of what is no part
_LINE_OPACITY = 0.9
_THICK_LINES_FROM = 800  # longest side in pixels from which boundaries are two pixels wide


def draw_parts(
    photo: np.ndarray, label_map: np.ndarray, colours: np.ndarray | None = None
) -> np.ndarray:
    """Return the photo with translucent parts, white boundaries and a dimmed background.

    Parameters
    ----------
    photo
        uint8 (h, w, 3) RGB.
    label_map
        uint8 (H, W) of the same view at any size: brought to the photo's by nearest neighbour.
    colours
        uint8 (256, 3) RGB, of each label; None: those of `part_colours`.

    Returns
    -------
    np.ndarray
        uint8 (h, w, 3) RGB. Boundaries are one pixel wide, two from 800 pixels up.
    """
    colours = part_colours() if colours is None else colours
    labels = sample_nearest(label_map, photo.shape[:2])
    pale = _half_grey(photo)
    tinted = cv2.addWeighted(pale, 1 - _TINT, colours[labels], _TINT, 0)
    drawn = np.where((labels > 0)[..., None], tinted, cv2.convertScaleAbs(pale, alpha=_DIMMED))
    line = _boundaries(labels, thick=max(labels.shape) >= _THICK_LINES_FROM)
    drawn[line] = (drawn[line] * (1 - _LINE_OPACITY) + 255 * _LINE_OPACITY).astype(np.uint8)
    return drawn


def highlight_part(photo: np.ndarray, mask: np.ndarray, colour: np.ndarray) -> np.ndarray:
    """Return the photo with one part as it is, outlined in its colour, and the rest dimmed.

    Parameters
    ----------
    photo
        uint8 (h, w, 3) RGB.
    mask
        bool (h, w): where the part is.
    colour
        uint8 (3,) RGB.
    """
    dimmed = cv2.convertScaleAbs(_half_grey(photo), alpha=_DIMMED)
    drawn = np.where(mask[..., None], photo, dimmed)
    drawn[_boundaries(mask, thick=True)] = colour
    return drawn


def sample_nearest(label_map: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Return the label map at another size, nearest neighbour between pixel centres.

    Parameters
    ----------
    label_map
        (H, W), any dtype.
    size
        (h, w) to bring it to.
    """
    rows, columns = (
        ((np.arange(new) + 0.5) * old / new).astype(np.intp)
        for new, old in zip(size, label_map.shape, strict=True)
    )
    return label_map[rows[:, None], columns]


def _half_grey(photo: np.ndarray) -> np.ndarray:
    # Half the colour is taken out, so that the photo's colours do not compete with the parts'.
    grey = cv2.cvtColor(cv2.cvtColor(photo, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB)
    return cv2.addWeighted(photo, 0.5, grey, 0.5, 0)


def _boundaries(labels: np.ndarray, thick: bool) -> np.ndarray:
    """Pixels (bool) left of and above a change of label; on both of its sides if thick."""
    across, down = labels[:, 1:] != labels[:, :-1], labels[1:] != labels[:-1]
    line = np.zeros(labels.shape, bool)
    line[:, :-1] |= across
    line[:-1] |= down
    if thick:
        line[:, 1:] |= across
        line[1:] |= down
    return line
