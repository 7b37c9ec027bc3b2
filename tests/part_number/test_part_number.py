"""The number of parts: found where it is known, and nothing found where nothing is."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest

from partdino.errors import InputError
from partdino.parts import part_number
from partdino.parts.part_number import PartCurve, part_curve

IMAGES, CELLS, DIM = 24, 40, 32
Cells = tuple[np.ndarray, np.ndarray, np.ndarray]


@pytest.fixture(autouse=True)
def two_halvings(monkeypatch):
    monkeypatch.setattr(part_number, "REPEATS", 2)


def planted(
    number: int, seed: int = 0, clutter: float = 0.0, count: int = IMAGES, spread: float = 0.05
) -> Cells:
    """Cells of `number` parts, in images that are unlike; some areas are nothing's."""
    rng = np.random.default_rng(seed)
    directions = np.linalg.qr(rng.normal(size=(DIM, DIM)))[0][:number]
    images = np.repeat(np.arange(count), CELLS)
    features = directions[rng.integers(number, size=len(images))]
    lost = rng.random(len(images)) < clutter
    features[lost] = rng.normal(size=(lost.sum(), DIM)) / np.sqrt(DIM)
    features += rng.normal(size=(count, DIM))[images] * spread
    features += rng.normal(size=features.shape) * 0.05
    return features.astype(np.float32), rng.uniform(0.2, 1, len(images)), images


@pytest.mark.parametrize(("number", "seed"), [(3, 0), (5, 1)])
def test_a_known_number_is_found(number, seed):
    curve = part_curve(*planted(number, seed), range(2, 8), seed)
    assert curve.best == number
    assert curve.agreement[number - 2] > 0.9
    assert curve.score[number - 2] > 0.8


def test_structureless_data_have_no_score():
    rng = np.random.default_rng(0)
    _, areas, images = planted(3)
    curve = part_curve(rng.normal(size=(len(areas), DIM)), areas, images, (3, 5, 8))
    assert np.abs(curve.score).max() < 0.15


def test_each_number_stands_for_itself_whatever_the_range():
    cells = planted(4)
    wide, narrow = (part_curve(*cells, range(2, most)) for most in (6, 4))
    np.testing.assert_array_equal(wide.score[:2], narrow.score)
    np.testing.assert_array_equal(wide.numbers, np.arange(2, 6))


def test_the_same_seed_gives_the_same_curve_and_another_one_another():
    cells = planted(4, clutter=0.3)
    first, again, other = (part_curve(*cells, [3, 6], seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.agreement, again.agreement)
    np.testing.assert_array_equal(first.chance, again.chance)
    assert (first.agreement != other.agreement).any()


def test_agreement_counts_areas_and_not_cells():
    features, areas, images = planted(4)
    specks = np.arange(len(areas)) % 2 == 0
    features[specks] = np.random.default_rng(0).normal(size=(specks.sum(), DIM))
    areas[specks] = 1e-9
    assert part_curve(features, areas, images, [4]).agreement[0] > 0.95
    areas[specks] = 1
    assert part_curve(features, areas, images, [4]).agreement[0] < 0.8


def test_a_sample_of_the_cells_will_do(monkeypatch):
    cells = planted(4)
    whole = part_curve(*cells, [4]).chance
    monkeypatch.setattr(part_number, "MAX_CELLS", 500)
    curve = part_curve(*cells, range(3, 6))
    assert curve.best == 4
    assert curve.chance[1] != whole[0]


def test_a_number_is_found_in_more_images_than_cells_are_sampled():
    curve = part_curve(*planted(4, count=7_000, spread=0.2), range(3, 7))
    assert curve.best == 4 and curve.agreement[1] > 0.9


def test_images_may_come_in_any_order_and_have_any_numbers():
    features, areas, images = planted(4)
    order = np.random.default_rng(0).permutation(len(areas))
    curve = part_curve(features[order], areas[order], 3 * images[order] + 5, range(3, 6))
    assert curve.best == 4


def test_more_parts_than_distinct_cells_are_no_error():
    features, areas, images = planted(3)
    features = features[:3][np.arange(len(areas)) % 3]
    assert part_curve(features, areas, images, range(2, 5)).best == 3


def test_three_images_are_too_few_to_halve():
    features, areas, images = planted(3)
    few = images < 3
    with pytest.raises(InputError, match="there are 3: name the number, as in --parts 8"):
        part_curve(features[few], areas[few], images[few], range(2, 5))


def test_of_equals_the_largest_is_best():
    agreement, chance = np.array([0.625, 0.75, 0.625]), np.array([0.5, 0.5, 0.25])
    curve = PartCurve(np.array([4, 5, 6]), agreement, np.zeros(3), chance)
    np.testing.assert_array_equal(curve.score, [0.25, 0.5, 0.5])
    assert curve.best == 6


@pytest.mark.parametrize(
    ("agreement", "spread", "doubts"),
    [
        ([0.5, 0.9, 0.5], 0.1, []),
        ([0.7, 0.9, 0.85], 0.1, ["6 parts are as good as 5, within the spread"]),
        ([0.9, 0.7, 0.6], 0.1, ["4 is an end of 4-6: a wider range may hold a better one"]),
        (
            [0.3, 0.3, 0.3],
            0.1,
            ["no number of parts in 4-6 is clearly better than chance"],
        ),
    ],
)
def test_doubts_of_a_choice_are_told(agreement, spread, doubts):
    chance, numbers = np.full(3, 0.25), np.array([4, 5, 6])
    assert PartCurve(numbers, np.array(agreement), np.full(3, spread), chance).doubts == doubts


def test_how_far_it_is_can_be_watched():
    steps = []

    @contextmanager
    def watch(title, total):
        steps.append(total)
        yield lambda: steps.append("step")

    part_curve(*planted(3), range(2, 4), watch=watch)
    assert steps == [4, "step", "step", "step", "step"]
