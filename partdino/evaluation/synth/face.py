"""Faces seen from the front, with the five landmarks of CelebA."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from partdino.evaluation.synth.figure import Figure
from partdino.evaluation.synth.geometry import Point, Points, blob, ellipse, limb, turned

FACE_PARTS = ("skin", "hair", "eye", "nose", "mouth", "clothes")
FACE_KEYPOINTS = ("left eye", "right eye", "nose", "left mouth", "right mouth")
"""Left and right as in CelebA's lists: the left of the image."""

_SKINS = (
    (0.93, 0.76, 0.65),
    (0.85, 0.64, 0.50),
    (0.72, 0.50, 0.36),
    (0.52, 0.34, 0.24),
    (0.36, 0.23, 0.17),
)
_HAIRS = (
    (0.10, 0.08, 0.07),
    (0.28, 0.18, 0.11),
    (0.48, 0.30, 0.16),
    (0.75, 0.60, 0.36),
    (0.55, 0.53, 0.52),
    (0.50, 0.20, 0.10),
)
_IRISES = ((0.25, 0.16, 0.10), (0.30, 0.42, 0.55), (0.33, 0.40, 0.24))
_DARK = (0.05, 0.04, 0.04)
_HAIR_LOOK = {"relief": 0.7, "texture": 0.45}

Placing = Callable[[Points | Point], np.ndarray]
"""Tilts points of the upright head with it."""


def face(rng: np.random.Generator) -> Figure:
    """Draw one person: head and shoulders, a little turned to a side.

    Parameters
    ----------
    rng
        Draws colours, proportions, hair style, gaze, smile and how the head is held.

    Returns
    -------
    Figure
        The face's half-height is one unit, its middle the origin.
    """
    figure = Figure(FACE_PARTS)
    skin = np.array(_SKINS[rng.integers(len(_SKINS))]) * rng.uniform(0.92, 1.06)
    hair = np.array(_HAIRS[rng.integers(len(_HAIRS))])
    width = rng.uniform(0.7, 0.8)
    roll, yaw = rng.normal(0, 0.1), rng.uniform(-0.16, 0.16)

    def at(points: Points | Point) -> np.ndarray:
        return turned(points, roll)

    _hair_behind(figure, rng, at, hair, width)
    _shoulders(figure, rng, skin)
    _head(figure, rng, at, skin, hair, width)
    _eyes(figure, rng, at, hair, yaw)
    _nose(figure, rng, at, skin, yaw)
    _mouth(figure, rng, at, skin, yaw)
    figure.anchors.sort(key=lambda anchor: FACE_KEYPOINTS.index(anchor.name))
    return figure


def _hair_behind(
    figure: Figure, rng: np.random.Generator, at: Placing, hair: np.ndarray, width: float
) -> None:
    length = rng.choice([0.1, 0.9, 1.4])
    contour = [
        (-width - 0.12, -0.2), (-0.6, -0.98), (0.0, -1.2), (0.6, -0.98), (width + 0.12, -0.2),
        (width + 0.1, length), (0.0, length - 0.1), (-width - 0.1, length),
    ]  # fmt: skip
    figure.add("hair", blob(at(contour)), tuple(0.8 * hair), **_HAIR_LOOK)


def _shoulders(figure: Figure, rng: np.random.Generator, skin: np.ndarray) -> None:
    cloth = tuple(np.clip(rng.uniform(0.1, 0.8) + rng.normal(0, 0.12, 3), 0.03, 0.95))
    neck = limb([(0.0, 0.6), (0.0, 1.35)], [0.36, 0.4])
    torso = [
        (-0.5, 1.25), (0.0, 1.42), (0.5, 1.25), (1.25, 1.6), (1.6, 3.0), (1.5, 8.0),
        (-1.5, 8.0), (-1.6, 3.0), (-1.25, 1.6),
    ]  # fmt: skip
    figure.add("skin", neck, tuple(0.88 * skin), relief=0.6, texture=0.1)
    figure.add("clothes", blob(torso), cloth, relief=0.5, texture=rng.uniform(0.1, 0.35))


def _head(
    figure: Figure,
    rng: np.random.Generator,
    at: Placing,
    skin: np.ndarray,
    hair: np.ndarray,
    width: float,
) -> None:
    for side in (-1, 1):
        ear = ellipse(at((side * (width + 0.02), 0.08)), 0.09, 0.2)
        figure.add("skin", ear, tuple(0.9 * skin), relief=0.6, texture=0.1)
    contour = [
        (-width, -0.15), (-0.55, -0.85), (0.0, -1.02), (0.55, -0.85), (width, -0.15),
        (0.62, 0.55), (0.24, 0.96), (-0.24, 0.96), (-0.62, 0.55),
    ]  # fmt: skip
    figure.add("skin", blob(at(contour)), tuple(skin), relief=0.5, texture=0.08)
    part = rng.uniform(-0.4, 0.4)
    fringe = [
        (-width - 0.06, 0.05), (-0.72, -0.85), (0.0, -1.2), (0.72, -0.85), (width + 0.06, 0.05),
        (width - 0.08, -0.35), (0.45, -0.62), (part, -0.7), (-0.45, -0.62), (-width + 0.08, -0.35),
    ]  # fmt: skip
    figure.add("hair", blob(at(fringe)), tuple(hair), **_HAIR_LOOK)


def _eyes(
    figure: Figure,
    rng: np.random.Generator,
    at: Placing,
    hair: np.ndarray,
    yaw: float,
) -> None:
    iris = _IRISES[rng.integers(len(_IRISES))]
    gaze, apart = rng.normal(0, 0.02), rng.uniform(0.28, 0.33)
    flat = {"relief": 0.0, "texture": 0.0}
    for name, side in (("left eye", -1), ("right eye", 1)):
        x = side * apart + yaw
        brow = at([(x - 0.16, -0.27 - 0.02 * side), (x, -0.34), (x + 0.16, -0.27 + 0.02 * side)])
        figure.add("hair", limb(brow, [0.03, 0.045, 0.025]), tuple(0.8 * hair), relief=0.2)
        lid = [(x - 0.15, -0.07), (x, -0.165), (x + 0.15, -0.07), (x, -0.02)]
        figure.add("eye", blob(at(lid)), _DARK, **flat)
        white = [(x - 0.13, -0.07), (x, -0.14), (x + 0.13, -0.07), (x, -0.03)]
        figure.add("eye", blob(at(white)), (0.92, 0.9, 0.88), **flat)
        centre = at((x + gaze, -0.085))
        figure.add("eye", ellipse(centre, 0.058, 0.058), iris, **flat)
        pupil = figure.add("eye", ellipse(centre, 0.03, 0.03), _DARK, **flat)
        figure.add("eye", ellipse(centre + 0.02, 0.012, 0.012), (1, 1, 1), **flat)
        figure.mark(name, centre, pupil)


def _nose(
    figure: Figure, rng: np.random.Generator, at: Placing, skin: np.ndarray, yaw: float
) -> None:
    broad, low = rng.uniform(0.11, 0.16), rng.uniform(0.28, 0.36)
    x = 1.5 * yaw
    bridge = [(yaw, -0.1), (x, low)]
    colour = tuple(np.clip(skin * (1.02, 0.97, 0.95), 0, 1))
    figure.add("nose", limb(at(bridge), [0.06, broad]), colour, relief=0.45, texture=0.08)
    for side in (-1, 1):
        nostril = ellipse(at((x + side * 0.5 * broad, low + 0.07)), 0.03, 0.02)
        figure.add("nose", nostril, tuple(0.35 * skin), relief=0, texture=0)
    figure.mark("nose", at((x, low - 0.02)), len(figure.shapes) - 3)


def _mouth(
    figure: Figure, rng: np.random.Generator, at: Placing, skin: np.ndarray, yaw: float
) -> None:
    half, smile, x = rng.uniform(0.2, 0.28), rng.uniform(-0.02, 0.08), 1.2 * yaw
    y = 0.58
    lips = tuple(skin * (0.85, 0.5, 0.5))
    contour = [
        (x - half, y - smile), (x, y - 0.07), (x + half, y - smile), (x, y + 0.1),
    ]  # fmt: skip
    mouth = figure.add("mouth", blob(at(contour)), lips, relief=0.4, texture=0.1)
    line = at([(x - 0.8 * half, y - 0.8 * smile), (x, y + 0.01), (x + 0.8 * half, y - 0.8 * smile)])
    figure.add("mouth", limb(line, [0.006, 0.012, 0.006]), tuple(0.3 * skin), relief=0, texture=0)
    for name, side in (("left mouth", -1), ("right mouth", 1)):
        figure.mark(name, at((x + side * 0.9 * half, y - 0.95 * smile)), mouth)
