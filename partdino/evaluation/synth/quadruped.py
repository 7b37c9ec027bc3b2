"""Four-legged animals: every species has the same parts, in its own proportions and colours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partdino.evaluation.synth.figure import Colour, Figure
from partdino.evaluation.synth.geometry import blob, ellipse, limb, step, turned

QUADRUPED_PARTS = ("head", "ear", "body", "leg", "tail")
QUADRUPED_KEYPOINTS = (
    "nose",
    "left eye",
    "right eye",
    "left ear",
    "right ear",
    "withers",
    "belly",
    "rump",
    "tail tip",
    "left front paw",
    "right front paw",
    "left hind paw",
    "right hind paw",
)

_FURS = (
    (0.52, 0.34, 0.19),
    (0.24, 0.20, 0.18),
    (0.73, 0.57, 0.38),
    (0.50, 0.48, 0.46),
    (0.84, 0.80, 0.73),
    (0.64, 0.31, 0.14),
    (0.36, 0.25, 0.17),
)
_DARK = (0.07, 0.06, 0.06)


@dataclass(frozen=True)
class _Build:
    """Proportions in trunk lengths, and colours, of a species."""

    leg: float
    girth: float
    neck: float
    neck_angle: float
    head: float
    snout: float
    ear: float
    ear_angle: float
    tail: float
    tail_radius: float
    coat: Colour
    under: Colour
    socks: Colour
    markings: Colour
    cover: float


def quadruped(rng: np.random.Generator, species: np.random.Generator) -> Figure:
    """Pose an individual of a species.

    Parameters
    ----------
    rng
        Draws the pose: gait, head, ears, tail.
    species
        Draws proportions and colours, so that the same seed is the same species.

    Returns
    -------
    Figure
        Facing right, the trunk one unit long and centred on the origin.
    """
    build = _draw_build(species)
    figure = Figure(QUADRUPED_PARTS, coat_colour=build.markings, coat_cover=build.cover)
    stride = rng.uniform(-0.5, 0.5)
    nod = rng.normal(0, 0.12)
    neck_end = step((0.36, -0.1 * build.girth), build.neck, build.neck_angle + rng.normal(0, 0.15))
    _leg(figure, rng, build, "far", "front", stride)
    _leg(figure, rng, build, "far", "hind", -stride)
    _ear(figure, rng, build, "far", neck_end, nod)
    _tail(figure, rng, build)
    _trunk(figure, build, neck_end)
    _leg(figure, rng, build, "near", "hind", stride * rng.uniform(0.5, 1))
    _leg(figure, rng, build, "near", "front", -stride * rng.uniform(0.5, 1))
    _head(figure, build, neck_end, nod)
    _ear(figure, rng, build, "near", neck_end, nod)
    return figure


def _draw_build(species: np.random.Generator) -> _Build:
    coat, other = (np.array(_FURS[i]) for i in species.permutation(len(_FURS))[:2])
    coat = np.clip(coat * species.uniform(0.85, 1.15), 0, 1)
    return _Build(
        leg=species.uniform(0.42, 0.75),
        girth=species.uniform(0.85, 1.2),
        neck=species.uniform(0.28, 0.6),
        neck_angle=species.uniform(-1.1, -0.55),
        head=species.uniform(1.15, 1.5),
        snout=species.uniform(0.08, 0.2),
        ear=species.uniform(0.14, 0.24),
        ear_angle=species.choice([-2.0, -1.7, 1.9]),
        tail=species.uniform(0.35, 0.75),
        tail_radius=species.uniform(0.03, 0.085),
        coat=tuple(coat),
        under=tuple(np.clip(coat * 1.1 + 0.15, 0, 1)),
        socks=tuple(coat * species.choice([0.45, 0.9, 1.15])),
        markings=tuple(other),
        cover=species.choice([0.0, 0.35, 0.55]),
    )


def _leg(
    figure: Figure, rng: np.random.Generator, build: _Build, side: str, end: str, swing: float
) -> None:
    shade = 0.72 if side == "far" else 1.0
    forward = 1 if end == "front" else -1
    root = np.array([0.34 if end == "front" else -0.36, 0.06 * build.girth])
    if side == "far":
        root += (0.05, -0.01)
    swing += rng.normal(0, 0.08)
    # Front knees bend backwards, hocks bend forwards.
    upper = step(root, 0.5 * build.leg, np.pi / 2 - swing + forward * 0.12)
    ankle = step(upper, 0.5 * build.leg, np.pi / 2 - swing * 0.6 - forward * 0.18)
    toes = step(ankle, 0.075, 0.3)
    colour, socks = (tuple(shade * np.array(c)) for c in (build.coat, build.socks))
    thigh = 0.125 if end == "front" else 0.155
    figure.add(
        "leg",
        limb([root, upper, ankle], [thigh * build.girth, 0.065, 0.045]),
        colour,
        under=socks,
        marked=True,
    )
    paw = figure.add("leg", limb([ankle, toes], [0.05, 0.042]), socks)
    figure.mark(f"{side} {end} paw", (ankle + toes) / 2, paw)


def _trunk(figure: Figure, build: _Build, neck_end: np.ndarray) -> None:
    girth = np.array([1.0, build.girth])
    contour = [
        (0.50, 0.0), (0.40, -0.17), (0.10, -0.17), (-0.25, -0.18), (-0.44, -0.15),
        (-0.52, 0.0), (-0.42, 0.15), (-0.12, 0.15), (0.15, 0.19), (0.36, 0.18),
    ]  # fmt: skip
    look = {"marked": True, "texture": 0.4}
    body = figure.add("body", blob(contour * girth), build.coat, under=build.under, **look)
    figure.add(
        "body",
        limb([(0.36, -0.04), neck_end], [0.19, 0.12 * build.head]),
        build.coat,
        relief=0.4,
        **look,
    )
    figure.mark("withers", (0.15, -0.13 * build.girth), body)
    figure.mark("belly", (-0.05, 0.13 * build.girth), body)
    figure.mark("rump", (-0.44, -0.09 * build.girth), body)


def _tail(figure: Figure, rng: np.random.Generator, build: _Build) -> None:
    root = np.array([-0.46, -0.1 * build.girth])
    lift = rng.uniform(-0.9, 0.9)
    middle = step(root, 0.5 * build.tail, np.pi + lift * 0.5 - 0.2)
    tip = step(middle, 0.5 * build.tail, np.pi + lift - rng.uniform(0.0, 0.8))
    radii = [0.05, build.tail_radius * 1.2, 0.6 * build.tail_radius]
    tail = figure.add("tail", limb([root, middle, tip], radii), build.coat, under=build.socks)
    figure.mark("tail tip", tip, tail)


def _head(figure: Figure, build: _Build, base: np.ndarray, nod: float) -> None:
    def at(points: object) -> np.ndarray:
        return base + turned(np.asarray(points) * build.head, 0.35 + nod)

    tip = 0.11 + build.snout
    contour = [
        (-0.13, 0.0), (-0.06, -0.12), (0.05, -0.12), (0.11, -0.06), (tip, -0.045),
        (tip + 0.03, 0.01), (tip, 0.06), (0.06, 0.1), (-0.06, 0.11),
    ]  # fmt: skip
    figure.add("head", blob(at(contour)), build.coat, under=build.under, marked=True)
    muzzle = ellipse(at((tip - 0.01, 0.02)), 0.05 * build.head, 0.042 * build.head, 0.35 + nod)
    figure.add("head", muzzle, build.under, relief=0.6)
    mouth = [at((tip - 0.07, 0.055)), at((tip, 0.045))]
    figure.add("head", limb(mouth, [0.006, 0.006], samples=2), _DARK, relief=0, texture=0)
    nose = figure.add("head", ellipse(at((tip + 0.02, -0.012)), 0.03, 0.024), _DARK, texture=0)
    figure.mark("nose", at((tip + 0.02, -0.012)), nose)
    eye = at((0.055, -0.045))
    figure.add("head", ellipse(eye, 0.034, 0.027, nod), (0.55, 0.38, 0.16), relief=0, texture=0)
    pupil = figure.add("head", ellipse(eye, 0.022, 0.022), _DARK, relief=0.5, texture=0)
    figure.add("head", ellipse(eye - 0.009, 0.006, 0.006), (1, 1, 1), relief=0, texture=0)
    figure.mark("near eye", eye, pupil)
    figure.mark("far eye")


def _ear(
    figure: Figure,
    rng: np.random.Generator,
    build: _Build,
    side: str,
    base: np.ndarray,
    nod: float,
) -> None:
    offset = (-0.05, -0.09) if side == "near" else (0.0, -0.1)
    root = base + turned(np.array(offset) * build.head, 0.35 + nod)
    tip = step(root, build.ear, build.ear_angle + nod + rng.normal(0, 0.12))
    along, across = tip - root, turned(tip - root, np.pi / 2) / build.ear
    contour = [
        root - 0.06 * across,
        root + 0.5 * along - 0.06 * across,
        tip,
        root + 0.5 * along + 0.06 * across,
        root + 0.06 * across,
    ]
    shade = 0.6 if side == "far" else 0.8
    colour = tuple(shade * np.array(build.coat))
    ear = figure.add("ear", blob(contour), colour, relief=0.8)
    figure.mark(f"{side} ear", root + 0.7 * along, ear)
