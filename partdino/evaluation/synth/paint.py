"""Painting a placed figure: antialiased and lit colours, and the exact masks of what was drawn."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from partdino.evaluation.synth.figure import Figure, Shape
from partdino.evaluation.synth.texture import blurred, fractal, mix, noise

_SAMPLES = 4  # sub-pixels a side
_SHIFT = 4  # fixed-point bits of cv2's polygon coordinates


def rasterise(figure: Figure, height: int, width: int) -> np.ndarray:
    """Return which shape is on top at every sub-pixel.

    Parameters
    ----------
    figure
        Figure in pixel coordinates.
    height, width
        Size of the image in pixels.

    Returns
    -------
    ndarray
        uint8 (4 height, 4 width): 0 background, i + 1 shape i.
    """
    top = np.zeros((height * _SAMPLES, width * _SAMPLES), np.uint8)
    for index, shape in enumerate(figure.shapes):
        _fill(top, shape, index + 1)
    return top


def part_labels(figure: Figure, top: np.ndarray) -> np.ndarray:
    """Return the label map: the part (or background) that covers most of each pixel.

    Parameters
    ----------
    figure
        The figure that was rasterised.
    top
        What `rasterise` returned.

    Returns
    -------
    ndarray
        uint8 (height, width): 0 background, i + 1 the part ``figure.part_names[i]``.
    """
    part_of = np.array([0] + [figure.part_names.index(s.part) + 1 for s in figure.shapes], np.uint8)
    parts = part_of[top]
    cover = [_cover(parts == label) for label in range(len(figure.part_names) + 1)]
    return np.argmax(cover, axis=0).astype(np.uint8)


def is_on_top(top: np.ndarray, shape: int, row: int, column: int) -> bool:
    """Return whether a pixel shows any of a shape."""
    y, x = row * _SAMPLES, column * _SAMPLES
    return bool(np.any(top[y : y + _SAMPLES, x : x + _SAMPLES] == shape + 1))


def paint(rng: np.random.Generator, canvas: np.ndarray, figure: Figure) -> np.ndarray:
    """Paint a figure over a background.

    Parameters
    ----------
    rng
        Source of randomness for coat, texture and the direction of the light.
    canvas
        float32 RGB (H, W, 3) in [0, 1], left as it is.
    figure
        Figure in pixel coordinates.

    Returns
    -------
    ndarray
        float32 RGB (H, W, 3), roughly in [0, 1].
    """
    height, width = canvas.shape[:2]
    low, high = figure.bounds()
    size = float(np.max(high - low))
    light = np.array([rng.uniform(-0.7, 0.7), -rng.uniform(0.5, 0.9), 0.8])
    coat = noise(rng, height, width, size * rng.uniform(0.04, 0.14))
    coat = 1 / (1 + np.exp(-12 * (coat - 2.5 * (0.5 - figure.coat_cover))))
    grain = fractal(rng, height, width, max(size / 40, 2.0), stretch=rng.uniform(0.7, 2.5))
    image, subject = canvas.astype(np.float32), np.zeros((height, width), np.float32)
    softness = size * 0.015
    for shape in figure.shapes:
        window, local = _crop(shape, height, width, margin=int(3 * softness) + 2)
        under = subject[window]
        if under.size == 0:
            continue
        alpha = _alpha(local, *under.shape)
        # What lies in front throws a soft shadow on the rest of the animal.
        shadow = blurred(alpha, softness) * under * (0.3 * shape.relief)
        colour = _albedo(local, figure, coat[window], grain[window])
        lit = colour * _shading(local, alpha, light)
        image[window] = mix(image[window] * (1 - shadow[..., None]), lit, alpha)
        subject[window] = np.maximum(under, alpha)
    return image


def _crop(shape: Shape, height: int, width: int, margin: int) -> tuple[tuple[slice, slice], Shape]:
    """Return the window of the image that a shape needs, and the shape relative to it."""
    points = np.concatenate(shape.outline)
    frame = (width, height)
    x0, y0 = (int(v) for v in np.clip(np.floor(points.min(axis=0)) - margin, 0, frame))
    x1, y1 = (int(v) for v in np.clip(np.ceil(points.max(axis=0)) + margin, 0, frame))
    local = replace(shape, outline=[polygon - (x0, y0) for polygon in shape.outline])
    return (slice(y0, y1), slice(x0, x1)), local


def _albedo(shape: Shape, figure: Figure, coat: np.ndarray, grain: np.ndarray) -> np.ndarray:
    height, width = coat.shape
    colour = np.broadcast_to(np.array(shape.colour, np.float32), (height, width, 3))
    if shape.under is not None:
        points = np.concatenate(shape.outline)
        top, bottom = points[:, 1].min(), points[:, 1].max()
        rows = (np.arange(height) - top) / max(bottom - top, 1.0)
        sweep = np.repeat(1 / (1 + np.exp(-10 * (rows - 0.6))), width).reshape(height, width)
        colour = mix(colour, np.array(shape.under), sweep)
    if shape.marked and figure.coat_cover > 0:
        colour = mix(colour, np.array(figure.coat_colour), coat)
    return colour * (1 + 0.35 * shape.texture * grain)[..., None]


def _shading(shape: Shape, alpha: np.ndarray, light: np.ndarray) -> np.ndarray:
    """Light the shape as if inflated: its height is that of a circle's arc from the rim inwards."""
    inside = cv2.distanceTransform((alpha > 0.5).astype(np.uint8), cv2.DIST_L2, 5)
    radius = max(float(inside.max()), 1.0)
    arc = np.sqrt(np.maximum(radius**2 - (radius - inside) ** 2, 0))
    bulge = blurred(arc, radius * 0.3 + 0.5)
    dy, dx = np.gradient(bulge)
    lit = (-dx * light[0] - dy * light[1]) * shape.relief + light[2]
    lit /= np.sqrt(1 + (dx**2 + dy**2) * shape.relief**2) * np.linalg.norm(light)
    return (0.5 + 0.75 * np.maximum(lit, 0))[..., None]


def _alpha(shape: Shape, height: int, width: int) -> np.ndarray:
    mask = np.zeros((height * _SAMPLES, width * _SAMPLES), np.uint8)
    _fill(mask, shape, 1)
    return _cover(mask)


def _fill(target: np.ndarray, shape: Shape, value: int) -> None:
    # A polygon is in continuous pixel coordinates, cv2 counts from the centre of the first pixel.
    for polygon in shape.outline:
        corners = np.round((polygon * _SAMPLES - 0.5) * 2**_SHIFT).astype(np.int32)
        cv2.fillPoly(target, [corners], value, cv2.LINE_8, _SHIFT)


def _cover(mask: np.ndarray) -> np.ndarray:
    size = (mask.shape[1] // _SAMPLES, mask.shape[0] // _SAMPLES)
    # 16 sub-pixels of value 16 average to their number: no rounding in 8 bits.
    counted = cv2.resize(mask.astype(np.uint8) * _SAMPLES**2, size, interpolation=cv2.INTER_AREA)
    return counted.astype(np.float32) / _SAMPLES**2
