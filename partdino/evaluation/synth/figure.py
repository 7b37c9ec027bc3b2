"""What a renderer draws: shapes painted back to front, each belonging to a part, and keypoints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from partdino.evaluation.synth.geometry import Outline, Point

Colour = tuple[float, float, float]


@dataclass(frozen=True)
class Shape:
    """One painted surface.

    Parameters
    ----------
    part
        Name of the part its pixels belong to.
    outline
        Polygons whose union is the shape.
    colour, under
        RGB in [0, 1]; with ``under`` the colour changes towards it from top to bottom.
    relief
        How round it is lit: 0 flat, 1 like an inflated cushion.
    texture
        Contrast of its fur, feathers or skin, 0 to 1.
    marked
        Whether the animal's coat pattern (patches, spots) goes over it.
    """

    part: str
    outline: Outline
    colour: Colour
    under: Colour | None = None
    relief: float = 1.0
    texture: float = 0.3
    marked: bool = False


@dataclass(frozen=True)
class Anchor:
    """A keypoint at (x, y) on a shape (an index into `Figure.shapes`); None: turned away."""

    name: str
    xy: tuple[float, float] | None = None
    shape: int | None = None


@dataclass
class Figure:
    """A posed subject in its own coordinates: x to the right, y down, facing right.

    Names of keypoints begin with "near " or "far " where an animal has one on each side; which of
    them is left or right is settled when the figure is placed in an image, mirrored or not.
    """

    part_names: tuple[str, ...]
    shapes: list[Shape] = field(default_factory=list)
    anchors: list[Anchor] = field(default_factory=list)
    coat_colour: Colour = (0.0, 0.0, 0.0)
    coat_cover: float = 0.0

    def add(self, part: str, outline: Outline, colour: Colour, **look: object) -> int:
        """Paint a shape over the earlier ones and return its index."""
        self.shapes.append(Shape(part, outline, colour, **look))  # type: ignore[arg-type]
        return len(self.shapes) - 1

    def mark(self, name: str, xy: Point | None = None, shape: int | None = None) -> None:
        """Put a keypoint on a shape; without coordinates it is one that nobody can see."""
        point = None if xy is None else (float(xy[0]), float(xy[1]))
        self.anchors.append(Anchor(name, point, shape))

    def bounds(self, parts: Sequence[str] | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the (x, y) minimum and maximum over the shapes (of ``parts``, or all)."""
        chosen = [s for s in self.shapes if parts is None or s.part in parts]
        points = np.concatenate([polygon for shape in chosen for polygon in shape.outline])
        return points.min(axis=0), points.max(axis=0)

    def placed(self, scale: float, shift: Point, mirror: bool) -> Figure:
        """Return the figure in pixel coordinates: mirrored if asked, scaled, then shifted."""
        factor = np.array([-scale if mirror else scale, scale])
        offset = np.asarray(shift, dtype=float)
        shapes = [replace(s, outline=[p * factor + offset for p in s.outline]) for s in self.shapes]
        anchors = [_placed_anchor(anchor, factor, offset, mirror) for anchor in self.anchors]
        return replace(self, shapes=shapes, anchors=anchors)


def _placed_anchor(anchor: Anchor, factor: np.ndarray, offset: np.ndarray, mirror: bool) -> Anchor:
    # An animal that faces right shows us its right side.
    near, far = ("left", "right") if mirror else ("right", "left")
    name = anchor.name.replace("near ", f"{near} ").replace("far ", f"{far} ")
    xy = None if anchor.xy is None else tuple(np.asarray(anchor.xy) * factor + offset)
    return Anchor(name, xy, anchor.shape)
