"""Backgrounds: meadows, plains, snow, blurred foliage, water and walls, each different."""

from __future__ import annotations

import cv2
import numpy as np

from partdino.evaluation.synth.texture import blurred, fractal, mix, noise

_GROUNDS = {
    "meadow": ((0.30, 0.43, 0.16), (0.46, 0.56, 0.24)),
    "plain": ((0.62, 0.51, 0.30), (0.77, 0.67, 0.43)),
    "snow": ((0.80, 0.84, 0.90), (0.93, 0.95, 0.98)),
    "forest": ((0.22, 0.19, 0.12), (0.38, 0.33, 0.20)),
}
_SKIES = ((0.45, 0.63, 0.86), (0.68, 0.76, 0.84), (0.80, 0.81, 0.82), (0.93, 0.78, 0.62))
_TREES = ((0.13, 0.22, 0.11), (0.25, 0.30, 0.20), (0.35, 0.40, 0.45), (0.40, 0.36, 0.30))
_FOLIAGE = (
    (0.22, 0.36, 0.14),
    (0.45, 0.52, 0.22),
    (0.36, 0.30, 0.20),
    (0.58, 0.62, 0.58),
    (0.30, 0.42, 0.50),
)


def landscape(rng: np.random.Generator, height: int, width: int, horizon: float) -> np.ndarray:
    """Return sky, far trees and textured ground, float32 RGB (height, width, 3) in [0, 1].

    Parameters
    ----------
    rng
        Source of randomness.
    height, width
        Size in pixels.
    horizon
        Row of the horizon in pixels.
    """
    rows = np.arange(height, dtype=np.float32)[:, None] - horizon
    scene = _sky(rng, height, width)
    trees = np.array(_TREES[rng.integers(len(_TREES))])
    crowns = fractal(rng, height, width, cell=max(height, width) / 9)
    skyline = height * rng.uniform(0.04, 0.2) * (1 + 0.35 * crowns[height // 2])
    lit = trees * (1 + 0.25 * crowns[..., None])
    scene = mix(scene, lit, np.clip((rows + skyline[None]) / 2 + 0.5, 0, 1))
    scene = blurred(scene.astype(np.float32), max(height, width) / 160 * rng.uniform(0.3, 2.5))
    return mix(scene, _ground(rng, height, width), np.clip(rows / 3 + 0.5, 0, 1))


def foliage(rng: np.random.Generator, height: int, width: int) -> np.ndarray:
    """Return out-of-focus leaves with bright discs, float32 RGB (height, width, 3) in [0, 1]."""
    side = max(height, width)
    first, second, third = (np.array(_FOLIAGE[i]) for i in rng.permutation(len(_FOLIAGE))[:3])
    weights = [1 / (1 + np.exp(-3 * noise(rng, height, width, side / 4))) for _ in range(2)]
    scene = mix(
        mix(np.broadcast_to(first, (height, width, 3)), second, weights[0]), third, weights[1]
    )
    scene = np.ascontiguousarray(scene * rng.uniform(0.7, 1.1), dtype=np.float32)
    for _ in range(rng.integers(4, 30)):
        centre = (int(rng.integers(width)), int(rng.integers(height)))
        disc = np.zeros((height, width), np.float32)
        cv2.circle(disc, centre, int(side * rng.uniform(0.015, 0.06)) + 1, 1.0, -1, cv2.LINE_AA)
        scene = mix(scene, scene + rng.uniform(-0.1, 0.3), disc * rng.uniform(0.2, 0.7))
    return blurred(scene, side / 160 * rng.uniform(0.8, 3))


def wall(rng: np.random.Generator, height: int, width: int) -> np.ndarray:
    """Return a plain wall, lit from one side, float32 RGB (height, width, 3) in [0, 1]."""
    colour = np.clip(rng.uniform(0.25, 0.8) + rng.normal(0, 0.08, 3), 0.05, 0.95)
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    ramp = rng.uniform(-0.3, 0.3) * (x / width - 0.5) + rng.uniform(-0.3, 0.3) * (y / height - 0.5)
    stains = 0.05 * fractal(rng, height, width, max(height, width) / 3)
    return (colour * (1 + ramp + stains)[..., None]).astype(np.float32)


def _sky(rng: np.random.Generator, height: int, width: int) -> np.ndarray:
    zenith = np.array(_SKIES[rng.integers(len(_SKIES))])
    ramp = np.linspace(0, 1, height, dtype=np.float32)[:, None].repeat(width, 1)
    sky = mix(np.broadcast_to(zenith, (height, width, 3)), np.array([0.9, 0.92, 0.93]), 0.7 * ramp)
    clouds = fractal(rng, height, width, max(height, width) / 4, stretch=2.0)
    return mix(sky, np.array([0.97, 0.97, 0.97]), np.clip(0.35 * clouds, 0, 0.8))


def _ground(rng: np.random.Generator, height: int, width: int) -> np.ndarray:
    dark, light = (np.array(c) for c in _GROUNDS[rng.choice(list(_GROUNDS))])
    side = max(height, width)
    lumps = fractal(rng, height, width, side / 5, stretch=3.0)
    fine = fractal(rng, height, width, max(side / 60, 2.0), stretch=rng.uniform(0.4, 2.0))
    ground = mix(np.broadcast_to(dark, (height, width, 3)), light, 0.5 + 0.25 * lumps + 0.2 * fine)
    # Nearer ground is a little darker and sharper than the far.
    depth = np.linspace(1.1, 0.85, height, dtype=np.float32)[:, None, None]
    return (ground * depth).astype(np.float32)
