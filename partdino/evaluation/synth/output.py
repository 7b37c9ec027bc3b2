"""What the layouts share: frames, ids and image files."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from PIL import Image

from partdino.files import write_bytes, write_text

_ASPECTS = (4 / 3, 1.0, 3 / 4, 3 / 2)


def image_rng(seed: int, index: int) -> np.random.Generator:
    """Return the generator of one image: it does not depend on how many images there are."""
    return np.random.default_rng([seed, index])


def draw_frame(rng: np.random.Generator, size: int) -> tuple[int, int]:
    """Return (height, width) of a photo whose longer side is ``size`` pixels."""
    aspect = _ASPECTS[rng.integers(len(_ASPECTS))]
    return round(size / max(aspect, 1.0)), round(size * min(aspect, 1.0))


def gapped_ids(seed: int, count: int) -> list[int]:
    """Return increasing ids with gaps, as in a partial copy of a benchmark."""
    steps = np.random.default_rng([seed, 0, count]).integers(1, 4, count)
    return np.cumsum(steps).tolist()


def write_lines(path: Path, lines: list[str]) -> None:
    """Write a text list."""
    write_text(path, "".join(f"{line}\n" for line in lines))


def write_jpeg(path: Path, image: np.ndarray) -> None:
    """Write an RGB image (H, W, 3) or a grey one (H, W) as JPEG, whatever the suffix says."""
    stream = io.BytesIO()
    Image.fromarray(image).save(stream, "JPEG", quality=93)
    write_bytes(path, stream.getvalue())
