"""The colour of each cell, in units in which equal distances look about equally far apart."""

from __future__ import annotations

import cv2
import numpy as np


def mean_colours(image: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Average the colours inside each cell.

    Parameters
    ----------
    image
        uint8 (H, W, 3) RGB.
    cells
        int (H, W), 0..C-1, none of them empty.

    Returns
    -------
    float16 (C, 3), CIELAB: lightness 0 to 100, the other two -128 to 127.

    Examples
    --------
    >>> image = np.zeros((2, 2, 3), np.uint8)
    >>> image[:, 1] = 255  # black and white
    >>> mean_colours(image, np.array([[0, 1], [0, 1]])).round().tolist()
    [[0.0, 0.0, 0.0], [100.0, 0.0, 0.0]]
    """
    colours = cv2.cvtColor(image.astype(np.float32) / 255, cv2.COLOR_RGB2LAB)
    areas = np.bincount(cells.ravel())
    sums = [np.bincount(cells.ravel(), colours[..., k].ravel(), len(areas)) for k in range(3)]
    return (np.stack(sums, axis=1) / areas[:, None]).astype(np.float16)
