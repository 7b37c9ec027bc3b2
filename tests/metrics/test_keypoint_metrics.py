"""Labels at keypoints, part centroids and keypoint regression, against torch and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import StandardScaler

from partdino.metrics import (
    add_padded,
    fit_keypoint_regression,
    nearest_index,
    part_centroids,
    regression_moments,
)


@pytest.mark.parametrize("size", [7, 128, 448])
def test_nearest_index_equals_grid_sample(size):
    import torch
    from torch.nn.functional import grid_sample

    rng = np.random.default_rng(size)
    # Whole coordinates lie halfway between two pixels: the rounding shows there.
    x = np.concatenate([np.arange(1, size), rng.uniform(0.5, size - 0.5, 500)]).astype(np.float32)
    values = torch.arange(size, dtype=torch.float32).view(1, 1, 1, size)
    place = torch.stack([2 * torch.from_numpy(x) / size - 1, torch.zeros(len(x))], dim=-1)
    sampled = grid_sample(values, place.view(1, 1, -1, 2), mode="nearest", align_corners=False)
    np.testing.assert_array_equal(nearest_index(x, size), sampled.flatten().numpy())


def test_nearest_index_is_clipped_to_the_map():
    np.testing.assert_array_equal(nearest_index(np.array([-50.0, 0.0, 8.0, 99.0]), 8), [0, 0, 7, 7])


def test_centroids_are_mean_pixel_indices():
    labels = np.random.default_rng(0).integers(0, 5, (13, 17)).astype(np.uint8)
    centroids, active = part_centroids(labels, 6)
    np.testing.assert_array_equal(active, [True] * 4 + [False] * 2)
    for part in range(1, 5):
        rows, columns = np.nonzero(labels == part)
        np.testing.assert_allclose(centroids[part - 1], [columns.mean(), rows.mean()])
    np.testing.assert_array_equal(centroids[4:], 0)
    np.testing.assert_array_equal(part_centroids(labels, 2)[0], centroids[:2])


def test_a_higher_label_that_does_not_reach_the_last_column_is_passed_over():
    """A part that no image has that the regression was fitted on."""
    labels = np.array([[1, 1, 0], [0, 3, 0]], np.uint8)
    centroids, active = part_centroids(labels, 2)
    np.testing.assert_array_equal(centroids, [[0.5, 0], [0, 0]])
    np.testing.assert_array_equal(active, [True, False])


def data(seed: int, images: int, parts: int = 4, points: int = 3):
    """Return centroids, active, keypoints, visible; each keypoint follows the centroids."""
    rng = np.random.default_rng(seed)
    centroids = rng.uniform(0, 1, (images, parts, 2))
    mix = np.random.default_rng(9).dirichlet(np.ones(parts), points)
    keypoints = np.einsum("pk,nkc->npc", mix, centroids) + rng.normal(0, 0.05, (images, points, 2))
    return (
        centroids,
        rng.random((images, parts)) < 0.7,
        keypoints,
        rng.random((images, points)) < 0.8,
    )


def regress(x, y, other):
    return LinearRegression(fit_intercept=False).fit(x, y).predict(other)


def regress_shortest(x, y, other):
    """What scikit-learn 1.3 leaves to rounding: which columns count as dependent."""
    return other @ np.linalg.lstsq(x, y, rcond=1e-12)[0]


def direct_errors(fit, score, solve=regress) -> np.ndarray:
    """The protocol, literally: StandardScaler passes over absent centroids given as NaN."""
    errors = []
    for point in range(fit[2].shape[1]):
        seen, measured = fit[3][:, point], score[3][:, point]
        of_parts, of_point = StandardScaler(), StandardScaler()
        of_parts.fit(np.where(fit[1][..., None], fit[0], np.nan)[seen].reshape(seen.sum(), -1))
        target = of_point.fit_transform(fit[2][seen, point])

        def design(split, chosen, scaler=of_parts):
            standard = scaler.transform(split[0][chosen].reshape(chosen.sum(), -1))
            return np.where(np.repeat(split[1][chosen], 2, axis=1), standard, 0)

        predicted = of_point.inverse_transform(
            solve(design(fit, seen), target, design(score, measured))
        )
        errors.append(np.linalg.norm(predicted - score[2][measured, point], axis=1))
    return np.concatenate(errors)


def our_errors(fit, score) -> np.ndarray:
    predicted = fit_keypoint_regression(regression_moments(*fit)).predict(*score[:2])
    return np.linalg.norm(predicted - score[2], axis=2).T[score[3].T]


def test_regression_from_sums_equals_the_direct_one():
    fit, score = data(0, 80), data(1, 40)
    np.testing.assert_allclose(our_errors(fit, score), direct_errors(fit, score), atol=1e-9)


def test_regression_on_dependent_centroids_equals_the_direct_one():
    def dependent(split):
        centroids, _, keypoints, visible = split
        centroids[:, 1] = centroids[:, 0]
        centroids[:, 2] = 0.25 * centroids[:, 0] + 0.75 * centroids[:, 3]
        return centroids, np.ones(centroids.shape[:2], bool), keypoints, visible

    fit, score = dependent(data(0, 80)), dependent(data(1, 40))
    np.testing.assert_allclose(
        our_errors(fit, score), direct_errors(fit, score, regress_shortest), atol=1e-8
    )


def test_an_absent_centroid_has_no_influence_whatever_its_value():
    fit, score = data(0, 60), data(1, 30)
    expected = our_errors(fit, score)
    for centroids, active, *_ in (fit, score):
        centroids[~active] = np.nan
    np.testing.assert_array_equal(our_errors(fit, score), expected)


def test_shards_of_moments_add_up_also_with_other_numbers_of_parts():
    centroids, active, keypoints, visible = data(0, 50)
    active[:20, 3] = False
    first = regression_moments(centroids[:20, :3], active[:20, :3], keypoints[:20], visible[:20])
    second = regression_moments(centroids[20:], active[20:], keypoints[20:], visible[20:])
    whole = regression_moments(centroids, active, keypoints, visible)
    np.testing.assert_allclose(add_padded(first, second), whole, atol=1e-12)


def test_degenerate_fits_are_finite():
    centroids, active, keypoints, visible = data(0, 12)
    active[:, 1] = False
    active[1:, 2] = False
    centroids[:, 3] = 0.5
    keypoints[:, 0] = 0.25
    visible[:, 1] = False
    visible[1:, 2] = False
    model = fit_keypoint_regression(regression_moments(centroids, active, keypoints, visible))
    np.testing.assert_array_equal(model.fitted, [True, False, True])
    predicted = model.predict(centroids, np.ones_like(active))
    assert np.isfinite(predicted).all()
    np.testing.assert_allclose(predicted[:, 0], 0.25)
    np.testing.assert_allclose(predicted[:, 2], np.tile(keypoints[0, 2], (12, 1)))


def test_without_any_part_the_mean_is_predicted():
    _, _, keypoints, visible = data(0, 10)
    none = np.zeros((10, 0, 2)), np.zeros((10, 0), bool)
    model = fit_keypoint_regression(regression_moments(*none, keypoints, visible))
    np.testing.assert_allclose(model.predict(*none)[0, 0], keypoints[visible[:, 0], 0].mean(axis=0))
