"""One colour per part, the same in every file a run writes."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from partdino.parts.naming import Naming

MAX_PARTS = 255

# The first colours: orange, blue, yellow, magenta, green, rust, violet and pale blue, close to the
# hues of Okabe & Ito ("Color Universal Design", 2008) but more vivid, because they lie translucent
# over photos, and tuned to be as far apart as they can for normal and red-green-blind vision.
_FIRST = (
    (255, 146, 0),
    (31, 160, 255),
    (255, 245, 25),
    (246, 34, 181),
    (0, 204, 134),
    (199, 55, 0),
    (129, 56, 255),
    (190, 240, 255),
)

# Colour-vision simulation on linear RGB: normal, deuteranopia, protanopia (Machado et al., 2009).
_VISION = np.array(
    [
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
    ]
)

# Linear RGB to OKLab (Ottosson, 2020), in which distances are close to perceived ones.
_RGB_TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_LMS_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


@lru_cache(maxsize=1)
def part_colours() -> np.ndarray:
    """Return the colours of the label values 0..255.

    After the fixed first ones, every part takes the candidate farthest from all colours before it,
    as seen with normal and with red-green-blind vision: the fewer parts, the more distinct.

    Returns
    -------
    np.ndarray
        uint8 (256, 3) RGB, read-only: row 0 (background) is black, row p is part p; all differ.
    """
    candidates = np.concatenate([np.array(_FIRST), _vivid_colours()])
    seen = _appearance(candidates)
    chosen = list(range(len(_FIRST)))
    distance = np.min([_distance(seen, seen[index]) for index in chosen], axis=0)
    while len(chosen) < MAX_PARTS:
        chosen.append(int(distance.argmax()))
        distance = np.minimum(distance, _distance(seen, seen[chosen[-1]]))
    colours = np.concatenate([np.zeros((1, 3)), candidates[chosen]]).astype(np.uint8)
    colours.flags.writeable = False
    return colours


def colours_of(naming: Naming | None) -> np.ndarray:
    """Return `part_colours`, uint8 (256, 3) RGB, with those of named parts."""
    colours = part_colours()
    if naming is not None:
        colours = colours.copy()
        for part, colour in enumerate(naming.colours, start=1):
            colours[part] = list(bytes.fromhex(colour[1:]))
    return colours


def _vivid_colours() -> np.ndarray:
    """Candidates (N, 3): neither too dark nor too grey to stand out on a photo."""
    levels = np.arange(0, 256, 15)
    grid = np.stack(np.meshgrid(levels, levels, levels, indexing="ij"), axis=-1).reshape(-1, 3)
    lightness, a, b = _appearance(grid)[:, 0].T
    return grid[(lightness > 0.42) & (lightness < 0.94) & (np.hypot(a, b) > 0.07)]


def _appearance(colours: np.ndarray) -> np.ndarray:
    """OKLab (N, 3 visions, 3) of sRGB colours (N, 3)."""
    linear = (colours / 255) ** 2.2
    seen = np.einsum("vij,nj->nvi", _VISION, linear).clip(0)
    return np.cbrt(seen @ _RGB_TO_LMS.T) @ _LMS_TO_LAB.T


def _distance(seen: np.ndarray, one: np.ndarray) -> np.ndarray:
    """Distance (N,) to one colour: what is normally seen, unless the worst vision sees < half.

    Rounded, so that ties fall alike on every machine.
    """
    each = np.linalg.norm(seen - one, axis=-1)
    return np.minimum(each[:, 0], 2 * each.min(axis=1)).round(6)
