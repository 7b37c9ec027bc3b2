"""The baselines on features whose parts are known, and how images go in."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from partdino.describe.description import ImageDescription
from partdino.describe.settling import settled_of
from partdino.evaluation.datasets import MaskSample
from partdino.evaluation.methods.fitting import fit_methods
from partdino.evaluation.methods.labellers import PatchLabeller, PositionLabeller, box_coordinates
from partdino.evaluation.methods.sources import as_source, read_square
from partdino.metrics import contingency_table, nmi_from_contingency
from partdino.options import Options
from partdino.runs.store import DescriptionStore

SIZE = (48, 64)  # of regions; patches are a quarter of that


def describe(parts, noise=0.01, seed=0):
    """An image that is all object, with a part in each quarter, `parts` giving which."""
    rng = np.random.default_rng(seed)
    truth = np.kron(np.reshape(parts, (2, 2)), np.ones((24, 32), int))
    patches = np.eye(8)[truth[2::4, 2::4]] + noise * rng.normal(size=(12, 16, 8))
    patches /= np.linalg.norm(patches, axis=2, keepdims=True)
    cells = np.zeros(SIZE, np.int32)
    description = ImageDescription(
        size=SIZE,
        cells=cells,
        regions=np.zeros(1, np.int32),
        areas=np.array([cells.size]),
        features=patches.mean(axis=(0, 1))[None].astype(np.float16),
        contrast=np.zeros(1, np.float32),
        edges=np.zeros((0, 2), np.int32),
        border_length=np.zeros(0, np.int32),
        strength=np.zeros(0, np.float16),
        patches=patches.astype(np.float16),
    )
    return description, truth


@pytest.fixture
def fitted(tmp_path):
    """Both baselines, fitted on images whose quarters hold one of three parts."""
    store = DescriptionStore(tmp_path)
    for number in range(4):
        store.write(str(number), describe(np.roll([0, 1, 2, 1], number), seed=number)[0])
    options = settled_of(Options(foreground="none", device="cpu"))
    return fit_methods(("patch", "position"), [3], store, list("0123"), options, "")


def agreement(truth, labels):
    return nmi_from_contingency(contingency_table(truth, labels.astype(int)))


def test_patches_find_features_and_positions_find_places(fitted):
    description, truth = describe([2, 1, 1, 0], seed=9)
    scores = {}
    for variant, (labels, parts) in fitted.label(description):
        assert labels.shape == parts.shape == SIZE and parts.dtype == np.uint8
        assert parts.min() >= 1 and parts.max() <= 3
        np.testing.assert_array_equal(labels, parts)  # all is object
        scores[variant.method] = agreement(truth, parts)
    assert scores["patch"] > 0.9 > 0.6 > scores["position"]


def test_scores_are_upsampled_bilinearly_at_half_pixel_centres():
    labeller = PatchLabeller(np.zeros(2), np.eye(2), np.eye(2))
    patches = np.zeros((1, 2, 2), np.float16)
    patches[0, 0, 0] = patches[0, 1, 1] = 1
    description = ImageDescription((1, 8), *[None] * 8, patches=patches)
    labels = labeller(description, np.ones((1, 8), bool))
    assert labels.tolist() == [[1, 1, 1, 1, 2, 2, 2, 2]]


def test_positions_follow_the_box_of_the_object():
    labeller = PositionLabeller(np.array([[0.25, 0.5], [0.75, 0.5]]))
    foreground = np.zeros((6, 12), bool)
    foreground[1:3, 4:8] = True
    labels = labeller(None, foreground)
    assert (labels[:, :6] == 1).all() and (labels[:, 6:] == 2).all()
    x, y = box_coordinates(foreground)
    assert x[4:8].tolist() == [0.125, 0.375, 0.625, 0.875] and y[1:3].tolist() == [0.25, 0.75]
    x, y = box_coordinates(np.zeros((2, 4), bool))
    assert x.tolist() == [0.125, 0.375, 0.625, 0.875] and y.tolist() == [0.25, 0.75]


def test_images_are_squeezed_to_a_square_as_stored(tmp_path):
    pixels = np.zeros((20, 40, 3), np.uint8)
    pixels[:, :10] = 255
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned for viewing; annotations know nothing of it
    Image.fromarray(pixels).save(tmp_path / "a.jpg", exif=exif, quality=95)
    loaded = read_square(tmp_path / "a.jpg", 10_000)
    assert loaded.size == (40, 40)
    assert loaded.pixels.shape == (20, 40, 3) and loaded.pixels[:, :8].mean() > 250
    truth = np.arange(800).reshape(20, 40) % 3
    sample = MaskSample("a.jpg", tmp_path / "a.jpg", (20, 40), lambda: truth)
    assert as_source(sample, masked=False).mask is None
    np.testing.assert_array_equal(as_source(sample, masked=True).mask(), truth)
