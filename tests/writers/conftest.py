from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from partdino.parts.result import PartSegmentation


@pytest.fixture
def make_result() -> Callable[..., PartSegmentation]:
    """A factory of results: blocks of random labels, confidences and typicalities."""

    def make(
        name: str = "bird.jpg",
        size: tuple[int, int] = (48, 64),
        num_parts: int = 6,
        seed: int = 0,
        label_map: np.ndarray | None = None,
        typicality: float | None = None,
    ) -> PartSegmentation:
        rng = np.random.default_rng(seed)
        if label_map is None:
            coarse = rng.integers(0, num_parts + 1, (-(-size[0] // 7), -(-size[1] // 5)))
            label_map = np.kron(coarse, np.ones((7, 5)))[: size[0], : size[1]].astype(np.uint8)
        present = np.isin(np.arange(1, num_parts + 1), label_map)
        confidence, random_typicality = rng.uniform(0.1, 1, (2, num_parts)).astype(np.float32)
        if typicality is not None:
            random_typicality[:] = typicality
        return PartSegmentation(
            name=name,
            label_map=label_map,
            num_parts=num_parts,
            confidence=confidence * present,
            typicality=random_typicality * present,
            foreground_found=bool(present.any()),
        )

    return make


@pytest.fixture
def make_photo() -> Callable[..., np.ndarray]:
    """A factory of photos: random pixels."""

    def make(size: tuple[int, int] = (48, 64), seed: int = 0) -> np.ndarray:
        return np.random.default_rng(seed).integers(0, 256, (*size, 3), dtype=np.uint8)

    return make
