"""Perching birds, with the fifteen keypoints of CUB-200-2011."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partdino.evaluation.synth.figure import Colour, Figure
from partdino.evaluation.synth.geometry import blob, ellipse, limb, polygon, step, turned

BIRD_PARTS = ("head", "beak", "body", "wing", "leg", "tail")
BIRD_KEYPOINTS = (
    "back",
    "beak",
    "belly",
    "breast",
    "crown",
    "forehead",
    "left eye",
    "left leg",
    "left wing",
    "nape",
    "right eye",
    "right leg",
    "right wing",
    "tail",
    "throat",
)

_PLUMAGES = (
    (0.20, 0.33, 0.62),
    (0.78, 0.24, 0.14),
    (0.86, 0.72, 0.18),
    (0.42, 0.32, 0.22),
    (0.15, 0.14, 0.15),
    (0.55, 0.56, 0.58),
    (0.35, 0.45, 0.22),
    (0.82, 0.78, 0.70),
)
_BEAKS = ((0.15, 0.13, 0.12), (0.85, 0.55, 0.15), (0.55, 0.50, 0.45), (0.75, 0.40, 0.30))
_DARK = (0.05, 0.05, 0.05)


@dataclass(frozen=True)
class _Build:
    """Proportions in body lengths, and colours, of a species."""

    girth: float
    head: float
    neck: float
    beak: float
    beak_depth: float
    tail: float
    leg: float
    mantle: Colour
    breast: Colour
    cap: Colour
    wing: Colour
    beak_colour: Colour
    crest: bool
    cover: float


def bird(rng: np.random.Generator, species: np.random.Generator) -> Figure:
    """Pose an individual of a species.

    Parameters
    ----------
    rng
        Draws the pose: how upright it sits, head, wing, tail.
    species
        Draws proportions and colours, so that the same seed is the same species.

    Returns
    -------
    Figure
        Facing right, the body one unit long and centred on the origin.
    """
    build = _draw_build(species)
    figure = Figure(BIRD_PARTS, coat_colour=tuple(0.45 * np.array(build.breast)))
    figure.coat_cover = build.cover
    pitch = rng.uniform(-0.85, -0.1)
    raised = rng.uniform(0.7, 1.3) if rng.random() < 0.2 else 0.0
    _wing(figure, build, "far", pitch, raised)
    _leg(figure, rng, build, "far", pitch)
    _tail(figure, build, pitch + rng.normal(0, 0.15))
    _leg(figure, rng, build, "near", pitch)
    _trunk(figure, build, pitch)
    _head(figure, build, pitch, rng.normal(0, 0.2))
    _wing(figure, build, "near", pitch, raised)
    return figure


def _draw_build(species: np.random.Generator) -> _Build:
    mantle, breast, cap = (np.array(_PLUMAGES[i]) for i in species.permutation(len(_PLUMAGES))[:3])
    wing = np.array(mantle) * species.uniform(0.55, 0.8)
    return _Build(
        girth=species.uniform(0.85, 1.15),
        head=species.uniform(0.19, 0.24),
        neck=species.uniform(0.02, 0.12),
        beak=species.uniform(0.14, 0.32),
        beak_depth=species.uniform(0.045, 0.09),
        tail=species.uniform(0.4, 0.75),
        leg=species.uniform(0.16, 0.3),
        mantle=tuple(mantle),
        breast=tuple(np.clip(breast * 1.1 + 0.05, 0, 1)),
        cap=tuple(cap if species.random() < 0.6 else mantle),
        wing=tuple(wing),
        beak_colour=_BEAKS[species.integers(len(_BEAKS))],
        crest=bool(species.random() < 0.3),
        cover=species.choice([0.0, 0.3]),
    )


def _trunk(figure: Figure, build: _Build, pitch: float) -> None:
    def at(x: float, y: float) -> np.ndarray:
        return turned((x, y * build.girth), pitch)

    contour = [
        (0.46, -0.08), (0.25, -0.23), (-0.10, -0.22), (-0.42, -0.09), (-0.52, 0.0),
        (-0.40, 0.11), (-0.10, 0.25), (0.22, 0.26), (0.44, 0.12),
    ]  # fmt: skip
    outline = blob([at(*point) for point in contour])
    body = figure.add("body", outline, build.mantle, under=build.breast, marked=True)
    figure.mark("back", at(0.0, -0.18), body)
    figure.mark("belly", at(-0.12, 0.2), body)
    figure.mark("breast", at(0.3, 0.18), body)


def _head(figure: Figure, build: _Build, pitch: float, nod: float) -> None:
    centre = turned((0.44 + build.neck, -0.17 * build.girth), pitch) - np.array([0.0, 0.06])
    size = build.head

    def at(x: float, y: float) -> np.ndarray:
        return centre + turned((x * size, y * size), nod)

    neck = [turned((0.3, -0.05), pitch), centre]
    figure.add(
        "body", limb(neck, [0.2 * build.girth, 0.8 * size]), build.mantle, under=build.breast
    )
    long, deep = build.beak / size, build.beak_depth / size
    beak = polygon([at(0.7, -deep), at(0.95, -deep), at(0.9 + long, 0.12), at(0.7, deep + 0.1)])
    beak_index = figure.add("beak", beak, build.beak_colour, texture=0.05)
    gape = [at(0.85, 0.08), at(0.85 + 0.85 * long, 0.12)]
    figure.add("beak", limb(gape, [0.006, 0.003], samples=2), _DARK, relief=0, texture=0)
    if build.crest:
        crest = [at(0.4, -0.9), at(-1.3, -1.5), at(-0.8, -0.3)]
        figure.add("head", polygon(crest), build.cap, relief=0.5)
    contour = [(1.0, 0.0), (0.72, -0.72), (0.0, -1.0), (-0.8, -0.65), (-1.0, 0.1), (0.0, 0.95)]
    skull = blob([at(*point) for point in contour] + [at(0.7, 0.7)])
    head = figure.add("head", skull, build.cap, under=build.mantle)
    eye = at(0.35, -0.15)
    figure.add(
        "head", ellipse(eye, 0.24 * size, 0.24 * size), (0.8, 0.75, 0.6), relief=0, texture=0
    )
    pupil = figure.add("head", ellipse(eye, 0.19 * size, 0.19 * size), _DARK, texture=0)
    glint = ellipse(eye - 0.07 * size, 0.05 * size, 0.05 * size)
    figure.add("head", glint, (1, 1, 1), relief=0, texture=0)
    figure.mark("near eye", eye, pupil)
    figure.mark("far eye")
    figure.mark("beak", at(0.95 + 0.4 * long, 0.02), beak_index)
    figure.mark("crown", at(0.0, -0.8), head)
    figure.mark("forehead", at(0.68, -0.45), head)
    figure.mark("nape", at(-0.8, -0.1), head)
    figure.mark("throat", at(0.45, 0.7), head)


def _wing(figure: Figure, build: _Build, side: str, pitch: float, raised: float) -> None:
    # Folded wings lie along the back; raised ones turn about the shoulder and spread.
    shoulder = turned((0.27, -0.08), pitch)
    angle = pitch + raised - (0.25 if side == "far" and raised else 0.0)
    reach = 1.0 + 0.25 * bool(raised)

    def at(x: float, y: float) -> np.ndarray:
        return shoulder + turned((x * reach, y * reach * (1.4 if raised else 1.0)), angle)

    shade = 1.0 if side == "near" else 0.65
    colours = [tuple(shade * k * np.array(build.wing)) for k in (0.55, 0.8, 1.0)]
    # Three rows of feathers, the longest underneath.
    for length, depth, colour in zip((0.85, 0.6, 0.4), (0.14, 0.16, 0.15), colours, strict=True):
        contour = [
            (0.06, 0.0), (-0.5 * length, -0.09), (-length, 0.02),
            (-0.6 * length, depth + 0.04), (-0.1, depth),
        ]  # fmt: skip
        wing = figure.add("wing", blob([at(*p) for p in contour]), colour, relief=0.6, texture=0.5)
    figure.mark(f"{side} wing", at(-0.2, 0.05), wing)


def _tail(figure: Figure, build: _Build, pitch: float) -> None:
    root = turned((-0.36, 0.0), pitch)
    tip = root + turned((-build.tail, 0.0), pitch)
    colour = tuple(0.7 * np.array(build.wing))
    for spread, tone in ((-0.07, 0.75), (0.07, 0.9), (0.0, 1.0)):
        end = tip + turned((0.05 * abs(spread) * 10, spread), pitch)
        feather = limb([root, end], [0.06, 0.05])
        tail = figure.add("tail", feather, tuple(tone * np.array(colour)), relief=0.5)
    figure.mark("tail", root + 0.8 * (tip - root), tail)


def _leg(figure: Figure, rng: np.random.Generator, build: _Build, side: str, pitch: float) -> None:
    shade = 0.7 if side == "far" else 1.0
    colour = tuple(shade * np.clip(np.array(build.beak_colour) + 0.1, 0, 1))
    hip = turned((-0.06, 0.2 * build.girth), pitch) + ((0.1, 0.0) if side == "far" else (0, 0))
    foot = step(hip, build.leg + 0.08, np.pi / 2 + rng.normal(0, 0.12))
    toes = [step(foot, reach, angle) for reach, angle in ((0.11, 0.2), (0.1, 0.6), (0.07, 2.8))]
    outline = limb([hip, foot], [0.032, 0.022])
    for toe in toes:
        outline += limb([foot, toe], [0.02, 0.012], samples=3)
    leg = figure.add("leg", outline, colour, texture=0.1)
    figure.mark(f"{side} leg", hip + 0.75 * (foot - hip), leg)
