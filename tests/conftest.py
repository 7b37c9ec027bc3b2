"""Synthetic data sets that several areas test on; rendered once, to be read only."""

from __future__ import annotations

from pathlib import Path

import pytest

from partdino.synth import write_layout


@pytest.fixture(scope="session")
def photo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with eight animal photos; their true label maps are in ``../labels``."""
    return _render(tmp_path_factory, "photos", images=8) / "images"


@pytest.fixture(scope="session")
def cub_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixteen birds of four classes, half of them train, in the layout of CUB-200-2011."""
    return _render(tmp_path_factory, "cub", images=16)


@pytest.fixture(scope="session")
def celeba_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixteen faces in the layout of CelebA with MAFL's lists, aligned and in the wild."""
    return _render(tmp_path_factory, "celeba", images=16)


@pytest.fixture(scope="session")
def coco_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six train and six test animals with part masks in COCO format."""
    return _render(tmp_path_factory, "coco", images=12)


def _render(factory: pytest.TempPathFactory, layout: str, images: int) -> Path:
    root = factory.mktemp(layout)
    write_layout(layout, root, images=images, seed=0, size=160)
    return root
