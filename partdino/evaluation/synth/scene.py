"""From a posed figure to a photo-like image with its exact part labels and keypoints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np

from partdino.evaluation.synth.background import foliage, landscape, wall
from partdino.evaluation.synth.bird import BIRD_KEYPOINTS, bird
from partdino.evaluation.synth.face import face
from partdino.evaluation.synth.figure import Anchor, Figure
from partdino.evaluation.synth.geometry import limb
from partdino.evaluation.synth.paint import is_on_top, paint, part_labels, rasterise
from partdino.evaluation.synth.quadruped import QUADRUPED_KEYPOINTS, quadruped
from partdino.evaluation.synth.texture import blurred, noise

_ANIMALS: dict[str, tuple[Callable[..., Figure], tuple[str, ...]]] = {
    "quadruped": (quadruped, QUADRUPED_KEYPOINTS),
    "bird": (bird, BIRD_KEYPOINTS),
}


@dataclass(frozen=True)
class Scene:
    """A rendered image with what is in it.

    Parameters
    ----------
    image
        uint8 RGB (H, W, 3).
    labels
        uint8 (H, W): 0 background, i + 1 the part ``part_names[i]``.
    part_names
        Names of the parts.
    keypoints
        float64 (N, 3): x, y in pixels, always a pixel's centre (j + 0.5, i + 0.5), and 1 where
        the image shows it there. Hidden ones keep their place with a 0; those turned away or
        outside the image are (0, 0, 0).
    keypoint_names
        Names of the keypoints.
    """

    image: np.ndarray
    labels: np.ndarray
    part_names: tuple[str, ...]
    keypoints: np.ndarray
    keypoint_names: tuple[str, ...]

    def box(self, parts: tuple[str, ...] | None = None) -> tuple[int, int, int, int]:
        """Return (x, y, width, height) around the pixels of ``parts`` (or of all), in pixels."""
        chosen = [i + 1 for i, name in enumerate(self.part_names) if parts is None or name in parts]
        rows, columns = np.nonzero(np.isin(self.labels, chosen))
        x, y = int(columns.min()), int(rows.min())
        return x, y, int(columns.max()) + 1 - x, int(rows.max()) + 1 - y


def render_animal(
    rng: np.random.Generator,
    height: int,
    width: int,
    *,
    kind: str = "quadruped",
    species: int | None = None,
) -> Scene:
    """Render one animal, seen from the side, in front of a background.

    Parameters
    ----------
    rng
        Source of everything that differs between two photos: pose, size, place, side, background,
        light, camera.
    height, width
        Size of the image in pixels.
    kind
        "quadruped" (head, ear, body, leg, tail) or "bird" (head, beak, body, wing, leg, tail; the
        15 keypoints of CUB-200-2011).
    species
        Seeds proportions and colours; None draws a species of its own.

    Returns
    -------
    Scene
        The image with its part labels and keypoints.
    """
    build, keypoint_names = _ANIMALS[kind]
    number = int(rng.integers(2**31)) if species is None else species
    figure = _place(rng, build(rng, np.random.default_rng(number)), height, width)
    perched = kind == "bird" and rng.random() < 0.7
    canvas = _perch(rng, figure, height, width) if perched else _field(rng, figure, height, width)
    return _photograph(rng, canvas, figure, keypoint_names)


def render_face(
    rng: np.random.Generator, height: int, width: int, *, size: float | None = None
) -> Scene:
    """Render a person's head and shoulders, seen from the front.

    Parameters
    ----------
    rng
        Source of everything that differs between two portraits.
    height, width
        Size of the image in pixels.
    size
        Height of head and hair as a share of the shorter side; None draws 0.45 to 0.9.

    Returns
    -------
    Scene
        The image with its part labels (skin, hair, eye, nose, mouth, clothes) and the five
        landmarks of CelebA.
    """
    share = rng.uniform(0.45, 0.9) if size is None else size
    head = share * min(height, width)
    person = face(rng)
    low, high = person.bounds(("hair", "nose", "mouth", "eye"))
    scale = head / (high[1] - low[1])
    room = np.array([width, height]) - scale * (high - low)
    spot = room * (rng.uniform(0.3, 0.7), rng.uniform(0.2, 0.6))
    figure = person.placed(scale, spot - scale * low, mirror=False)
    canvas = foliage(rng, height, width) if rng.random() < 0.5 else wall(rng, height, width)
    names = tuple(anchor.name for anchor in figure.anchors)
    return _photograph(rng, canvas, figure, names)


def _place(rng: np.random.Generator, figure: Figure, height: int, width: int) -> Figure:
    mirror = bool(rng.random() < 0.5)
    low, high = figure.placed(1.0, (0, 0), mirror).bounds()
    frame = np.array([width, height], dtype=float)
    scale = float(np.min(frame / (high - low)) * rng.uniform(0.6, 0.95))
    room = frame - scale * (high - low)
    return figure.placed(scale, room * rng.uniform(0.1, 0.9, 2) - scale * low, mirror)


def _field(rng: np.random.Generator, figure: Figure, height: int, width: int) -> np.ndarray:
    """Return ground and sky with the animal's shadow under its feet."""
    low, high = figure.bounds(("leg",))
    horizon = high[1] - rng.uniform(0.1, 0.5) * (high[1] - figure.bounds()[0][1])
    canvas = landscape(rng, height, width, horizon)
    centre = (int((low[0] + high[0]) / 2), int(high[1]))
    axes = (int((high[0] - low[0]) * 0.6) + 1, int((high[1] - low[1]) * 0.15) + 1)
    shadow = np.zeros((height, width), np.float32)
    cv2.ellipse(shadow, centre, axes, 0, 0, 360, rng.uniform(0.3, 0.6), -1)
    return canvas * (1 - blurred(shadow, axes[1] * 0.6))[..., None]


def _perch(rng: np.random.Generator, figure: Figure, height: int, width: int) -> np.ndarray:
    """Return blurred foliage with a branch under the bird's feet; the branch is background."""
    low, high = figure.bounds(("leg",))
    thick = (high[1] - figure.bounds()[0][1]) * rng.uniform(0.03, 0.06)
    tilt = rng.normal(0, 0.05)
    middle = np.array([(low[0] + high[0]) / 2, high[1] + 0.3 * thick])
    ends = [middle + s * width * np.array([1.0, tilt]) for s in (-1.5, -0.4, 0.0, 0.4, 1.5)]
    bark = np.clip(np.array([0.36, 0.28, 0.2]) * rng.uniform(0.6, 1.4), 0, 1)
    branch = Figure(("branch",))
    branch.add(
        "branch", limb(ends, thick * rng.uniform(0.7, 1.3, 5), samples=48), tuple(bark), texture=0.9
    )
    return paint(rng, foliage(rng, height, width), branch)


def _photograph(
    rng: np.random.Generator, canvas: np.ndarray, figure: Figure, keypoint_names: tuple[str, ...]
) -> Scene:
    top = rasterise(figure, *canvas.shape[:2])
    labels = part_labels(figure, top)
    anchors = {anchor.name: anchor for anchor in figure.anchors}
    keypoints = np.array([_see(figure, anchors[name], top, labels) for name in keypoint_names])
    image = _develop(rng, paint(rng, canvas, figure))
    return Scene(image, labels, figure.part_names, keypoints, keypoint_names)


def _see(
    figure: Figure, anchor: Anchor, top: np.ndarray, labels: np.ndarray
) -> tuple[float, float, float]:
    """Return the keypoint's pixel centre and whether the image shows it; zeros where it cannot."""
    if anchor.xy is None or anchor.shape is None:
        return 0.0, 0.0, 0.0
    column, row = (int(np.floor(value)) for value in anchor.xy)
    if not (0 <= row < labels.shape[0] and 0 <= column < labels.shape[1]):
        return 0.0, 0.0, 0.0
    part = figure.part_names.index(figure.shapes[anchor.shape].part) + 1
    # The pixel must show the keypoint's own shape: a far paw behind the near leg is hidden.
    seen = labels[row, column] == part and is_on_top(top, anchor.shape, row, column)
    return column + 0.5, row + 0.5, float(seen)


def _develop(rng: np.random.Generator, image: np.ndarray) -> np.ndarray:
    """Add what a camera adds: exposure, colour cast, vignette, a little blur and noise."""
    height, width = image.shape[:2]
    y, x = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j].astype(np.float32)
    exposure = rng.uniform(0.85, 1.15) * (1 + rng.normal(0, 0.03, 3))
    frame = image * exposure * (1 - rng.uniform(0, 0.15) * (x**2 + y**2))[..., None]
    frame = blurred(frame.astype(np.float32), rng.uniform(0.3, 0.7))
    grain = rng.normal(0, rng.uniform(0.004, 0.016), (height, width, 1))
    grain = grain + 0.01 * noise(rng, height, width, 2.0)[..., None]
    return (255 * np.clip(frame + grain, 0, 1) + 0.5).astype(np.uint8)
