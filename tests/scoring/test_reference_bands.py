"""The reference table of the protocols: the labelling "bands" on real data, through label maps.

F is the horizontal band, eight of equal height; L is F inside an ellipse and background outside.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from partdino.evaluation import LabelFolder, score_dataset
from partdino.evaluation.datasets import Celeba, CocoParts, Cub

_DEFAULT = Path(__file__).parents[3] / "shared/data"
DATA = Path(os.environ.get("PARTDINO_BENCH_DATA", _DEFAULT))

REFERENCE = {
    "CUB_200_2011": (Cub, 448, 19.70053, 6.72210, 19.98324, 6.89244, 23.3047),
    "celeba": (Celeba, 224, 47.55939, 31.14819, 47.55939, 31.14819, 7.8955),
    "carparts": (CocoParts, 128, 20.71410, 24.98883),
    "faceparts": (CocoParts, 128, 20.54864, 14.60674),
}
NAMES = ("nmi", "ari", "fg_nmi", "fg_ari", "keypoint_regression")


def bands(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return L (0 = background, 1..8) and F (1..8), each size x size."""
    centre = (np.arange(size) + 0.5) / size
    x, y = np.meshgrid(centre, centre)
    parts = np.minimum(np.floor(8 * y), 7).astype(np.uint8) + 1
    inside = ((x - 0.5) / 0.45) ** 2 + ((y - 0.5) / 0.45) ** 2 <= 1
    return np.where(inside, parts, 0).astype(np.uint8), parts


def write_for_all(folder: Path, labels: np.ndarray, samples) -> LabelFolder:
    """Write one label map under the name of every image."""
    folder.mkdir()
    Image.fromarray(labels).save(folder / "bands.png")
    for sample in samples:
        path = (folder / sample.name).with_suffix(".png")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.hardlink_to(folder / "bands.png")
    return LabelFolder(folder, samples)


@pytest.mark.bench
@pytest.mark.parametrize("name", REFERENCE)
def test_bands_score_as_published_code_scores_them(name, tmp_path):
    if not (DATA / name).is_dir():
        pytest.skip(f"{DATA / name} is not there; set PARTDINO_BENCH_DATA")
    make, size, *expected = REFERENCE[name]
    dataset = make(DATA / name)
    samples = [*dataset.samples("regression"), *dataset.samples("score")]
    with_background, without = (
        write_for_all(tmp_path / kind, labels, samples)
        for kind, labels in zip("LF", bands(size), strict=True)
    )
    scores = score_dataset(dataset, lambda s: (with_background(s)[0], without(s)[0]), size)
    measured = [scores[key] for key in NAMES[: len(expected)]]
    assert measured == pytest.approx(expected, abs=1e-3, rel=0)
