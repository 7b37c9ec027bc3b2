"""Smooth random fields, the stuff of backgrounds and coats."""

from __future__ import annotations

import cv2
import numpy as np


def noise(
    rng: np.random.Generator, height: int, width: int, cell: float, stretch: float = 1.0
) -> np.ndarray:
    """Return a smooth random field with zero mean and unit deviation, float32 (height, width).

    Parameters
    ----------
    rng
        Source of randomness.
    height, width
        Size in pixels.
    cell
        Size of the lumps in pixels.
    stretch
        Above 1 the lumps are that much wider than high.
    """
    rows = max(2, round(height / cell) + 1)
    columns = max(2, round(width / (cell * stretch)) + 1)
    coarse = rng.standard_normal((rows, columns)).astype(np.float32)
    field = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)
    return (field - field.mean()) / max(float(field.std()), 1e-6)


def fractal(
    rng: np.random.Generator, height: int, width: int, cell: float, stretch: float = 1.0
) -> np.ndarray:
    """Return four octaves of `noise`, each half as large and six tenths as strong as the last."""
    field = np.zeros((height, width))
    for k in range(4):
        field = field + 0.6**k * noise(rng, height, width, max(cell / 2**k, 1.0), stretch)
    return (field / field.std()).astype(np.float32)


def blurred(image: np.ndarray, sigma: float) -> np.ndarray:
    """Blur with a Gaussian of ``sigma`` pixels; a tiny sigma changes nothing."""
    return image if sigma < 0.1 else cv2.GaussianBlur(image, (0, 0), float(sigma))


def mix(a: np.ndarray, b: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Blend colours: ``a`` where weight (H, W) is 0, ``b`` where it is 1; float32."""
    a, b, weight = (np.asarray(value, np.float32) for value in (a, b, weight))
    return a + (b - a) * weight[..., None]
