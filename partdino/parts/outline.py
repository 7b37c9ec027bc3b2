"""Moving an object's outline to the edges of its photo, at the photo's own resolution.

Cells end where boundaries are at the size that regions are made at, some pixels beside the edge of
the photo, in steps. Near that outline the side of each pixel is open, and two floods (watershed,
Vincent & Soille 1991), from sure object and from sure background, meet where colours change most.
"""

from __future__ import annotations

import cv2
import numpy as np
from scipy.ndimage import distance_transform_edt

from partdino.parts.label_map import resize_label_map

# Of the photo that outlines are refined on, its longer side in pixels, if it has as many.
OUTLINE_SIZE = 2048

# In pixels of the label map that is refined.
_OPEN = 6.0  # from the outline, to either side
_BLUR = 0.5  # of the photo, before its gradient
_SMOOTH = 1.0  # of the outline, after: noise makes it ragged

_OPEN_OF_THIN = 0.7  # of half the width of a leg or a gap: its core stays sure
_BACKGROUND, _OBJECT = 1, 2


def refine_outline(label_map: np.ndarray, photo: np.ndarray) -> np.ndarray:
    """Move the outline of what is labelled to the edges of the photo.

    Borders between parts stay where they are.

    Parameters
    ----------
    label_map
        uint8 (h, w): 0 = background, else parts.
    photo
        uint8 (H, W, 3) RGB, of any size.

    Returns
    -------
    uint8 (H, W), with the labels of `label_map`.

    Examples
    --------
    >>> label_map, photo = np.zeros((40, 40), np.uint8), np.zeros((80, 80, 3), np.uint8)
    >>> label_map[12:30, 10:28], photo[20:60, 20:60] = 1, 255
    >>> np.flatnonzero(refine_outline(label_map, photo)[40])[[0, -1]].tolist()
    [20, 59]
    """
    size = photo.shape[:2]
    inside = label_map > 0
    if inside.all() or not inside.any():
        return resize_label_map(label_map, size)
    scale = float(np.sqrt(size[0] * size[1] / label_map.size))
    sure = cv2.resize(_sure(inside), size[::-1], interpolation=cv2.INTER_NEAREST)
    inside = _flooded(sure, _gradient(photo, _BLUR * scale), _SMOOTH * scale)
    refined = resize_label_map(spread_labels(label_map), size) * inside
    if (lost := np.setdiff1d(label_map, refined)).size:
        whole = resize_label_map(label_map, size)
        np.copyto(refined, whole, where=np.isin(whole, lost))
    return refined


def _sure(inside: np.ndarray) -> np.ndarray:
    """Return uint8 (h, w): what is surely object or background, and 0 near the outline."""
    sure = np.zeros(inside.shape, np.uint8)
    for side, value in ((inside, _OBJECT), (~inside, _BACKGROUND)):
        sure[_core(side)] = value
    return sure


def _core(side: np.ndarray) -> np.ndarray:
    """Return bool (h, w), the pixels that are far from the other side, for where they are."""
    margin = int(_OPEN) + 1
    # The frame is no outline.
    framed = np.pad(side, margin, mode="edge").astype(np.uint8)
    depth = cv2.distanceTransform(framed, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    deepest = cv2.dilate(depth, np.ones((2 * margin - 1,) * 2, np.uint8))
    core = depth > np.minimum(_OPEN, _OPEN_OF_THIN * deepest)
    return core[margin:-margin, margin:-margin]


def _gradient(photo: np.ndarray, blur: float) -> np.ndarray:
    """Return float32 (H, W), how fast the colour changes, in CIELAB."""
    lab = cv2.cvtColor(photo.astype(np.float32) / 255, cv2.COLOR_RGB2LAB)
    lab = cv2.GaussianBlur(lab, (0, 0), blur)
    squares = np.zeros(lab.shape[:2], np.float32)
    for channel in cv2.split(lab):
        for axis in ((1, 0), (0, 1)):
            squares += np.square(cv2.Sobel(channel, cv2.CV_32F, *axis))
    return np.sqrt(squares)


def _flooded(sure: np.ndarray, height: np.ndarray, smooth: float) -> np.ndarray:
    """Return bool (H, W), what is object once both floods have met."""
    from skimage.segmentation import watershed

    # With the shores that the floods start at.
    basin = cv2.dilate((sure == 0).astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    sides = watershed(height, np.where(basin, sure, 0).astype(np.int32), mask=basin)
    inside = np.where(basin, sides, sure) == _OBJECT
    share = cv2.GaussianBlur(inside.astype(np.float32), (0, 0), smooth)
    return np.where(basin, share > 0.5, inside)


def spread_labels(label_map: np.ndarray) -> np.ndarray:
    """Return uint8 (h, w), every pixel of the background with the label of the nearest part."""
    nearest = distance_transform_edt(label_map == 0, return_distances=False, return_indices=True)
    return label_map[tuple(nearest)]
