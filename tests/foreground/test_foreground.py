"""Foreground without labels: what an image's border does not show, and what a collection knows."""

from __future__ import annotations

import numpy as np
import pytest

from partdino.describe.contrast import border_contrast
from partdino.describe.description import ImageDescription
from partdino.describe.vectors import normalise
from partdino.method import Method
from partdino.parts.foreground import (
    ForegroundModel,
    cell_log_odds,
    find_object,
    fit_foreground,
    select_foreground,
)

DIM = 16
SKY, GROUND, ANIMAL = np.eye(DIM)[:3]
BOX = (slice(8, 17), slice(9, 22))


def scene(seed: int = 0, animal: bool = True) -> np.ndarray:
    """Features (24, 30, 16) of sky over ground, both at the border, with an animal inside."""
    features = np.empty((24, 30, DIM))
    features[:14], features[14:] = SKY, GROUND
    if animal:
        features[BOX] = ANIMAL
    noise = np.random.default_rng(seed).normal(size=features.shape)
    return normalise(features + 0.1 * noise)


def test_an_object_inside_stands_out_from_several_backgrounds():
    contrast = border_contrast(scene())
    assert contrast.shape == (24, 30)
    inside = np.zeros(contrast.shape, bool)
    inside[BOX] = True
    assert contrast[inside].min() > 1 > 0 > contrast[~inside].mean()
    assert contrast[inside].min() > contrast[~inside].max()


def test_contrast_is_in_units_of_the_image():
    contrast = border_contrast(scene()).astype(float)
    assert contrast.mean() == pytest.approx(0, abs=1e-5)
    assert contrast.std() == pytest.approx(1, abs=1e-5)


def test_contrast_turns_with_the_image():
    features = scene()
    expected = border_contrast(features)
    np.testing.assert_allclose(border_contrast(features[::-1]), expected[::-1], atol=1e-5)
    turned = np.rot90(features).copy()
    np.testing.assert_allclose(border_contrast(turned), np.rot90(expected), atol=1e-5)


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (1, 9), (12, 10)])
def test_an_even_image_has_no_contrast(shape):
    features = np.broadcast_to(SKY, (*shape, DIM))
    np.testing.assert_array_equal(border_contrast(features), np.zeros(shape))


def regions_of(num_images: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Features, contrast and areas of the rows of patches in many scenes, and which are animal."""
    rows = []
    for seed in range(num_images):
        features = scene(seed)
        contrast = border_contrast(features)
        animal = np.zeros(contrast.shape, bool)
        animal[BOX] = True
        for mask in (animal, *(~animal & (np.arange(24)[:, None] == row) for row in range(24))):
            kind = bool((mask & animal).any())
            rows.append((features[mask].mean(axis=0), contrast[mask].mean(), mask.sum(), kind))
    features, contrast, areas, animal = zip(*rows, strict=True)
    return np.array(features), np.array(contrast), np.array(areas, float), np.array(animal)


def test_a_collection_teaches_what_the_object_looks_like():
    features, contrast, areas, animal = regions_of(6)
    model = fit_foreground(features, contrast, areas)
    np.testing.assert_array_equal(model.score(features, contrast) > 0, animal)
    # Where the object touches the border it has no contrast; its looks must be enough.
    low = np.full(2, -0.3, np.float32)
    score = model.score(np.stack([ANIMAL, SKY]), low)
    assert score[0] > score[1] and score[1] < 0


def test_a_single_image_teaches_too():
    features, contrast, areas, animal = regions_of(1)
    model = fit_foreground(features, contrast, areas)
    np.testing.assert_array_equal(model.score(features, contrast) > 0, animal)


@pytest.mark.parametrize("contrast", [0.0, 5.0])
def test_without_examples_of_both_kinds_there_is_no_object(contrast):
    features = np.tile(SKY, (4, 1))
    values = np.full(4, contrast)
    model = fit_foreground(features, values, np.ones(4))
    assert (model.score(features, values) < 0).all()


def test_fitting_is_the_same_every_time():
    features, contrast, areas, _ = regions_of(3)
    first, second = (fit_foreground(features, contrast, areas) for _ in range(2))
    np.testing.assert_array_equal(first.weights, second.weights)
    assert first.bias == second.bias


def test_what_scores_above_zero_is_object_unless_next_to_nothing():
    areas = np.array([5000, 3000, 1, 1999])
    selected = select_foreground(np.array([-1.0, 2.0, 1.0, 0.0]), areas)
    np.testing.assert_array_equal(selected, [False, True, True, False])
    assert not select_foreground(np.array([-1.0, -1.0, 3.0, -1.0]), areas).any()


@pytest.mark.parametrize("scale", [0.01, 1.0, 30.0])
def test_what_all_features_have_in_common_and_their_scale_change_nothing(scale):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(400, 12))
    contrast = 2 * features[:, 0] + rng.normal(size=400)
    areas = rng.uniform(0.5, 2, 400)
    plain = fit_foreground(features, contrast, areas).appearance(features)
    other = scale * (features + 3 * rng.normal(size=12))
    found = fit_foreground(other, contrast, areas).appearance(other)
    np.testing.assert_allclose(found, plain, atol=0.02)


def hinted_regions(hints: list[int]) -> ImageDescription:
    """Three regions of two cells each, in a row; the first is object by its features."""
    cells = np.arange(6, dtype=np.int32).repeat(8)[None].repeat(8, axis=0)
    return ImageDescription(
        size=cells.shape,
        cells=cells,
        regions=np.array([0, 0, 1, 1, 2, 2], np.int32),
        areas=np.full(6, 64),
        features=np.array([[3.0], [3.0], [-2.0], [-2.0], [-1.0], [-1.0]], np.float16),
        contrast=np.zeros(6, np.float32),
        edges=np.stack([np.arange(5), np.arange(1, 6)], axis=1).astype(np.int32),
        border_length=np.full(5, 8, np.int32),
        strength=np.ones(5, np.float16),
        hints=np.array(hints, np.int8),
    )


LINEAR = ForegroundModel(np.ones(1, np.float32), 0.0)


@pytest.mark.parametrize(
    ("hints", "expected"),
    [
        ([0, 0, 0, 0, 0, 0], [3, 3, -2, -2, -1, -1]),
        ([0, 0, 1, 0, 0, 0], [3, 3, 2, 2, -1, -1]),  # of the whole region
        ([0, -1, 0, 0, 0, 0], [-3, -3, -2, -2, -1, -1]),
        ([0, 0, 1, -1, 0, 0], [3, 3, -2, -2, -1, -1]),  # both kinds: of the cells alone
        ([0, -2, 0, 0, 0, 0], [3, 3, -2, -2, -1, -1]),  # a box cuts through regions
    ],
)
def test_a_point_tells_of_its_region(hints, expected):
    np.testing.assert_allclose(cell_log_odds(hinted_regions(hints), LINEAR), expected)


def test_hints_decide_what_is_object():
    nothing = ForegroundModel(np.zeros(1, np.float32), -np.inf)
    assert not find_object(hinted_regions([0] * 6), nothing).inside.any()
    found = find_object(hinted_regions([0, 0, 1, 0, 0, 0]), nothing).inside
    assert found.tolist() == [False, False, True, True, False, False]
    without = find_object(hinted_regions([0, 0, 0, 0, 0, 0]), LINEAR).inside
    boxed = find_object(hinted_regions([-2, 0, 0, 0, 0, 0]), LINEAR).inside
    assert (without[0], boxed[0], boxed[1]) == (True, False, True)


def test_hints_hold_without_rounds_too():
    method = Method(foreground_rounds=0)
    found = find_object(hinted_regions([-1, 0, 1, 0, 0, 0]), LINEAR, method).inside
    assert found[:3].tolist() == [False, True, True]
