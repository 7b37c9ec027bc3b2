from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partdino.pooling import pool, pooling_weights

properties = settings(deadline=None, max_examples=40)
purities = st.sampled_from([0.0, 0.5, 1.0, 3.0, 200.0])


@st.composite
def scenes(draw) -> tuple[np.ndarray, np.ndarray]:
    """Draw features (gh, gw, 3) and regions (H, W); grid cells may be smaller than pixels."""
    height, width, rows, columns = (draw(st.integers(1, top)) for top in (20, 20, 8, 8))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    _, regions = np.unique(rng.integers(0, 5, height * width), return_inverse=True)
    features = rng.standard_normal((rows, columns, 3)).astype(np.float32)
    return features, regions.reshape(height, width).astype(np.int32)


@properties
@given(scene=scenes(), purity=purities)
def test_every_region_is_a_weighted_mean(scene, purity):
    features, regions = scene
    weights = pooling_weights(regions, features.shape[:2], purity)
    assert weights.shape == (regions.max() + 1, features.shape[0] * features.shape[1])
    assert weights.data.min() >= 0
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-12)
    pooled = pool(features, regions, purity)
    assert pooled.dtype == np.float32
    assert (pooled >= features.min(axis=(0, 1)) - 1e-5).all()  # inside the hull of the cells
    assert (pooled <= features.max(axis=(0, 1)) + 1e-5).all()


@properties
@given(scene=scenes(), purity=purities, value=st.floats(-5, 5, width=32))
def test_constant_features_pool_to_the_constant(scene, purity, value):
    features, regions = scene
    pooled = pool(np.full_like(features, value), regions, purity)
    np.testing.assert_allclose(pooled, value, rtol=1e-6)


@properties
@given(scene=scenes(), purity=purities, a=st.floats(-3, 3), b=st.floats(-3, 3))
def test_pooling_is_linear(scene, purity, a, b):
    features, regions = scene
    other = features[::-1, ::-1] ** 2
    combined = pool((a * features + b * other).astype(np.float32), regions, purity)
    separate = a * pool(features, regions, purity) + b * pool(other, regions, purity)
    np.testing.assert_allclose(combined, separate, atol=1e-4)


@properties
@given(scene=scenes(), purity=purities, seed=st.integers(0, 99))
def test_renumbering_the_regions_permutes_the_rows(scene, purity, seed):
    features, regions = scene
    order = np.random.default_rng(seed).permutation(regions.max() + 1)
    renumbered = pool(features, order[regions], purity)
    np.testing.assert_array_equal(renumbered[order], pool(features, regions, purity))


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


def test_purity_moves_a_region_towards_its_pure_cells():
    # Cells of 10 pixels; the border at column 14 leaves cell 1 four tenths left, six tenths right.
    regions = np.zeros((10, 40), np.int32)
    regions[:, 14:] = 1
    straddling = np.array([0, 1, 0, 0], np.float32).reshape(1, 4, 1)
    means = np.array([pool(straddling, regions, purity)[:, 0] for purity in (0, 0.5, 1, 2, 8)])
    assert (np.diff(means, axis=0) < 0).all()
    assert (means[-1] < 0.01).all()


def test_purity_multiplies_by_the_share_of_the_cell():
    regions = np.zeros((10, 40), np.int32)
    regions[:, 14:] = 1
    plain = pooling_weights(regions, (1, 4)).toarray()
    share = np.array([[1, 0.4, 0, 0], [0, 0.6, 1, 1]])
    expected = plain * share**2
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(pooling_weights(regions, (1, 4), 2).toarray(), expected, rtol=1e-12)


def test_a_region_without_a_pure_cell_has_a_mean():
    regions = np.zeros((32, 32), np.int32)
    regions[15, 15] = 1  # one pixel where four cells of 16 pixels meet, inside the first of them
    features = np.arange(4, dtype=np.float32).reshape(2, 2, 1)
    np.testing.assert_allclose(pool(features, regions, 2.0)[1], 0.0)


def test_half_pixel_convention():
    features = np.array([0, 1], np.float32).reshape(1, 2, 1)
    regions = np.arange(8, dtype=np.int32).reshape(1, 8)
    expected = [0, 0, 1 / 8, 3 / 8, 5 / 8, 7 / 8, 1, 1]
    np.testing.assert_allclose(pool(features, regions)[:, 0], expected, atol=1e-7)
