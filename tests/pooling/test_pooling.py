from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partdino.describe.pooling import pool, pooling_weights

properties = settings(deadline=None, max_examples=40)


@st.composite
def scenes(draw) -> tuple[np.ndarray, np.ndarray]:
    """Draw features (gh, gw, 3) and regions (H, W); grid cells may be smaller than pixels."""
    height, width, rows, columns = (draw(st.integers(1, top)) for top in (20, 20, 8, 8))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    _, regions = np.unique(rng.integers(0, 5, height * width), return_inverse=True)
    features = rng.standard_normal((rows, columns, 3)).astype(np.float32)
    return features, regions.reshape(height, width).astype(np.int32)


@properties
@given(scene=scenes())
def test_every_region_is_a_weighted_mean(scene):
    features, regions = scene
    weights = pooling_weights(regions, features.shape[:2])
    assert weights.shape == (regions.max() + 1, features.shape[0] * features.shape[1])
    assert weights.data.min() >= 0
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-12)
    pooled = pool(features, regions)
    assert pooled.dtype == np.float32
    assert (pooled >= features.min(axis=(0, 1)) - 1e-5).all()  # inside the hull of the cells
    assert (pooled <= features.max(axis=(0, 1)) + 1e-5).all()


@properties
@given(scene=scenes(), value=st.floats(-5, 5, width=32))
def test_constant_features_pool_to_the_constant(scene, value):
    features, regions = scene
    pooled = pool(np.full_like(features, value), regions)
    np.testing.assert_allclose(pooled, value, rtol=1e-6)


@properties
@given(scene=scenes(), a=st.floats(-3, 3), b=st.floats(-3, 3))
def test_pooling_is_linear(scene, a, b):
    features, regions = scene
    other = features[::-1, ::-1] ** 2
    combined = pool((a * features + b * other).astype(np.float32), regions)
    separate = a * pool(features, regions) + b * pool(other, regions)
    np.testing.assert_allclose(combined, separate, atol=1e-4)


@properties
@given(scene=scenes(), seed=st.integers(0, 99))
def test_renumbering_the_regions_permutes_the_rows(scene, seed):
    features, regions = scene
    order = np.random.default_rng(seed).permutation(regions.max() + 1)
    renumbered = pool(features, order[regions])
    np.testing.assert_array_equal(renumbered[order], pool(features, regions))


@properties
@given(scene=scenes())
def test_pooling_equals_the_mean_of_upsampled_features(scene):
    features, regions = scene
    size = regions.shape[::-1]
    dense = cv2.resize(features, size, interpolation=cv2.INTER_LINEAR).reshape(*regions.shape, 3)
    means = [dense[regions == region].mean(axis=0) for region in range(regions.max() + 1)]
    np.testing.assert_allclose(pool(features, regions), means, atol=1e-5)


def test_pooling_equals_the_mean_of_torch_upsampling():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    features = rng.standard_normal((5, 7, 4)).astype(np.float32)
    regions = rng.integers(0, 9, (64, 96)).astype(np.int32)
    dense = torch.nn.functional.interpolate(
        torch.from_numpy(features).permute(2, 0, 1)[None], size=(64, 96), mode="bilinear"
    )[0]
    means = [dense[:, torch.from_numpy(regions == region)].mean(1).numpy() for region in range(9)]
    np.testing.assert_allclose(pool(features, regions), means, atol=1e-5)


def test_half_pixel_convention():
    features = np.array([0, 1], np.float32).reshape(1, 2, 1)
    regions = np.arange(8, dtype=np.int32).reshape(1, 8)
    expected = [0, 0, 1 / 8, 3 / 8, 5 / 8, 7 / 8, 1, 1]
    np.testing.assert_allclose(pool(features, regions)[:, 0], expected, atol=1e-7)
