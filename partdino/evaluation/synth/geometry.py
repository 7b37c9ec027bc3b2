"""Outlines of organic shapes: polygons from a few control points."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import cv2
import numpy as np
from scipy.interpolate import splev, splprep

Point = Sequence[float] | np.ndarray
Points = Sequence[Point] | np.ndarray

Outline = list[np.ndarray]
"""Polygons, each (N, 2) of (x, y); the shape is their union."""

_DISC = np.stack([f(np.linspace(0, 2 * np.pi, 20, endpoint=False)) for f in (np.cos, np.sin)], 1)


def blob(points: Points, samples: int = 96) -> Outline:
    """Return the smooth closed curve through control points (N, 2)."""
    knots = np.asarray(points, dtype=float)
    closed = np.concatenate([knots, knots[:1]])
    along = _chord_length(closed)
    curve, _ = splprep(closed.T, u=along, s=0, per=True)
    return [np.stack(splev(np.linspace(0, along[-1], samples, endpoint=False), curve), axis=1)]


def polygon(points: Points) -> Outline:
    """Return the straight-edged polygon through points (N, 2)."""
    return [np.asarray(points, dtype=float)]


def ellipse(centre: Point, rx: float, ry: float, angle: float = 0.0) -> Outline:
    """Return an ellipse turned by ``angle`` radians (clockwise on screen, as y points down)."""
    turn = np.linspace(0, 2 * np.pi, 64, endpoint=False)
    return [turned(np.stack([rx * np.cos(turn), ry * np.sin(turn)], 1), angle) + centre]


def limb(joints: Points, radii: Sequence[float], samples: int = 24) -> Outline:
    """Return a limb: a disc that moves along a smooth line through joints, its radius changing.

    Parameters
    ----------
    joints
        Two or more (x, y), from root to tip.
    radii
        The radius at each joint.
    samples
        Number of discs; the hull of every two neighbours is one polygon.
    """
    spine = np.asarray(joints, dtype=float)
    along = _chord_length(spine)
    where = np.linspace(0, along[-1], samples)
    curve, _ = splprep(spine.T, u=along, s=0, k=min(3, len(spine) - 1))
    centres = np.stack(splev(where, curve), axis=1)
    widths = np.interp(where, along, radii)
    discs = [centre + width * _DISC for centre, width in zip(centres, widths, strict=True)]
    return [_hull(np.concatenate(pair)) for pair in pairwise(discs)]


def turned(points: Points | Point, angle: float) -> np.ndarray:
    """Rotate points (N, 2) or (2,) about the origin, clockwise on screen."""
    cos, sin = np.cos(angle), np.sin(angle)
    return np.asarray(points, dtype=float) @ np.array([[cos, sin], [-sin, cos]])


def step(origin: Point, length: float, angle: float) -> np.ndarray:
    """Return the point ``length`` away from ``origin``; 0 is right, positive angles turn down."""
    return np.asarray(origin, dtype=float) + length * np.array([np.cos(angle), np.sin(angle)])


def _chord_length(points: np.ndarray) -> np.ndarray:
    # Square roots of the chords (centripetal) keep the spline from overshooting at short chords.
    chords = np.linalg.norm(np.diff(points, axis=0), axis=1) ** 0.5
    return np.concatenate([[0.0], np.cumsum(chords)])


def _hull(points: np.ndarray) -> np.ndarray:
    return cv2.convexHull(points.astype(np.float32))[:, 0].astype(float)
