"""Effects against scipy and by hand; intervals that know that patches of an image are alike."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from partdino.evaluation.study.statistics import compare_groups, summarise_group


def sample(seed=0, images=30, patches=40, shift=0.0, decimals=15):
    rng = np.random.default_rng(seed)
    straddles = rng.random((images, patches)) < 0.3
    values = (rng.normal(size=(images, patches)) + shift * straddles).round(decimals)
    numbers = np.repeat(np.arange(images), patches)
    return values.ravel(), straddles.ravel(), numbers


@pytest.mark.parametrize("decimals", [15, 1])  # without and with ties
def test_cliffs_delta_is_that_of_the_u_test(decimals):
    values, straddles, images = sample(shift=0.5, decimals=decimals)
    u = mannwhitneyu(values[straddles], values[~straddles]).statistic
    expected = 2 * u / (straddles.sum() * (~straddles).sum()) - 1
    effect = compare_groups(values, straddles, images)["cliffs_delta"]
    assert effect.value == pytest.approx(expected, abs=1e-12 if decimals == 1 else 1e-3)
    assert effect.low < effect.value < effect.high


def test_hedges_g_by_hand():
    values = np.array([1.0, 2, 3, 5, 7])  # means 2 and 6, variances 1 and 2, three against two
    straddles = np.array([0, 0, 0, 1, 1], bool)
    pooled = np.sqrt((2 * 1 + 1 * 2) / 3)
    expected = (1 - 3 / (4 * 3 - 1)) * (6 - 2) / pooled
    effect = compare_groups(values, straddles, np.zeros(5, int))["hedges_g"]
    assert effect.value == pytest.approx(expected)


def test_the_difference_within_images_by_hand():
    values = np.array([1.0, 3, 5, 20, 22, 99])
    straddles = np.array([0, 1, 1, 0, 1, 1], bool)
    images = np.array([0, 0, 0, 1, 1, 2])  # the third has no interior patch
    effect = compare_groups(values, straddles, images)["within_image"]
    assert effect.value == pytest.approx(((4 - 1) + (22 - 20)) / 2)
    assert (effect.low, effect.high) == pytest.approx((2, 3))


def test_one_image_has_no_interval():
    values, straddles, images = sample(images=1)
    for effect in compare_groups(values, straddles, images).values():
        assert np.isfinite(effect.value) and np.isnan([effect.low, effect.high]).all()


def test_images_are_resampled_not_patches():
    values, straddles, images = sample(images=20, shift=1)
    copies = [np.tile(array, 25) for array in (values, straddles, images)]
    one, many = compare_groups(values, straddles, images), compare_groups(*copies)
    for name, effect in one.items():
        assert many[name].high - many[name].low == pytest.approx(effect.high - effect.low, rel=0.1)


def test_intervals_hold_the_true_effect_about_as_often_as_they_say():
    held = 0
    for seed in range(40):
        effect = compare_groups(*sample(seed, images=15, patches=10, shift=1))["hedges_g"]
        held += effect.low < 1 < effect.high
    assert held >= 32


def test_the_sign_and_the_seed():
    values, straddles, images = sample(shift=0.3)
    effects, mirrored = (compare_groups(sign * values, straddles, images) for sign in (1, -1))
    for name, effect in effects.items():
        assert effect.value > 0
        assert mirrored[name].value == pytest.approx(-effect.value)
    assert compare_groups(values, straddles, images) == effects
    assert compare_groups(values, straddles, images, seed=1) != effects


def test_the_numbers_of_the_images_do_not_matter():
    values, straddles, images = sample()
    expected = compare_groups(values, straddles, images)
    assert compare_groups(values, straddles, 3 * images + 7) == expected


@pytest.mark.parametrize("straddles", [np.zeros(3, bool), np.ones(3, bool), np.zeros(0, bool)])
def test_one_group_alone_has_no_effect(straddles):
    count = len(straddles)
    effects = compare_groups(np.arange(float(count)), straddles, np.zeros(count, int))
    assert all(np.isnan(effect.value) for effect in effects.values())


def test_groups_are_summarised():
    summary = summarise_group(np.array([1.0, 2, 3, 4, 10]))
    assert summary == {"n": 5, "mean": 4, "q25": 2, "median": 3, "q75": 4}
    assert summarise_group(np.zeros(0))["median"] is None
