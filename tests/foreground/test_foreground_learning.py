"""What a collection teaches: objects of photos that they fill, and rounds of learning."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from skimage.segmentation import find_boundaries

from partdino.describe.contrast import border_contrast, border_share
from partdino.describe.description import ImageDescription
from partdino.describe.regions import region_adjacency
from partdino.describe.settling import settled_of
from partdino.describe.vectors import normalise
from partdino.method import DEFAULT_METHOD, METHOD_OF_0_1, Method
from partdino.options import validate
from partdino.parts.fitting import find_foreground
from partdino.parts.foreground import (
    ForegroundModel,
    find_object,
    first_guess,
    foreground_cells,
    learn_again,
)
from partdino.parts.foreground_learning import learn_foreground

DIM, SIDE, CELL = 16, 16, 4
ROUNDS = replace(DEFAULT_METHOD, foreground_rounds=3)


def described(seed: int, box: tuple[slice, slice]) -> tuple[ImageDescription, np.ndarray]:
    """An animal in a box of cells, each a region, before another mixture of sky and ground."""
    rng = np.random.default_rng(seed)
    animal = np.zeros((SIDE, SIDE), bool)
    animal[box] = True
    sky, ground, fur = np.eye(DIM)[:3]
    features = np.where(np.arange(SIDE)[:, None, None] < 4 + seed % 8, sky, ground)
    features = normalise(np.where(animal[..., None], fur, features) + 0.15 * rng.normal(size=DIM))
    features = normalise(features + 0.1 * rng.normal(size=features.shape))
    cells = np.arange(SIDE**2).reshape(SIDE, SIDE).repeat(CELL, 0).repeat(CELL, 1).astype(np.int32)
    outline = find_boundaries(animal.repeat(CELL, 0).repeat(CELL, 1)).astype(np.float32)
    edges, border_length, strength = region_adjacency(cells, outline)
    description = ImageDescription(
        size=cells.shape,
        cells=cells,
        regions=np.arange(SIDE**2, dtype=np.int32),
        areas=np.full(SIDE**2, CELL**2),
        features=features.reshape(-1, DIM).astype(np.float16),
        contrast=border_contrast(features).ravel(),
        edges=edges,
        border_length=border_length,
        strength=strength.astype(np.float16),
        border=border_share(cells),
    )
    return description, animal.ravel()


class Collection:
    """Descriptions by their numbers."""

    def __init__(self, boxes: list[tuple[slice, slice]]) -> None:
        self.pairs = [described(seed, box) for seed, box in enumerate(boxes)]
        self.names = [str(number) for number in range(len(boxes))]

    def read(self, key: str, pixels: bool = True) -> ImageDescription:
        return self.pairs[int(key)][0]

    def part(self, keys) -> Collection:
        return self


SMALL = [np.s_[4 + i : 10 + i, 3 + i : 9 + i] for i in (0, 1, 2, 1, 0, 2)]
FILLING = [np.s_[3:16, 1:15]] * 6  # down to the border below, as a car from near by


def learn(collection: Collection, method: Method = ROUNDS):
    return learn_foreground(collection, collection.names, np.arange, method)


@pytest.mark.parametrize("boxes", [SMALL, FILLING], ids=["small", "filling"])
def test_objects_are_found_whether_they_touch_the_border_or_not(boxes):
    collection = Collection(boxes)
    model = learn(collection)
    for description, animal in collection.pairs:
        inside = foreground_cells(description, model, ROUNDS)
        assert np.mean(inside == animal) > 0.9


def with_legs_like_the_ground(collection: Collection) -> Collection:
    """The lower half of each animal nearly looks like the ground: rounds lose it."""
    rng = np.random.default_rng(5)
    like = 0.7 * np.eye(DIM)[1] + 0.3 * np.eye(DIM)[2]
    for number, (description, animal) in enumerate(collection.pairs):
        features = description.features.astype(float).reshape(SIDE, SIDE, DIM)
        rows, columns = SMALL[number]
        legs = features[rows.stop - 3 : rows.stop, columns]
        legs[:] = normalise(like + 0.15 * rng.normal(size=legs.shape))
        contrast = border_contrast(features).ravel()
        flat = features.reshape(-1, DIM).astype(np.float16)
        changed = replace(description, features=flat, contrast=contrast)
        collection.pairs[number] = (changed, animal)
    return collection


def test_rounds_are_free_of_the_first_guess_unless_they_lose_it():
    def biases(collection: Collection, kept: float) -> list[float]:
        methods = (
            replace(ROUNDS, first_guess_kept=kept, first_guess_weight=weight)
            for weight in (0.0, 0.25, 0.9)
        )
        return [learn(collection, method).bias for method in methods]

    whole = biases(Collection(SMALL), 0.8)
    assert whole[0] == whole[1] == whole[2]
    losing = biases(with_legs_like_the_ground(Collection(SMALL)), 0.8)
    assert losing[0] < losing[1] < losing[2]
    ignored = biases(with_legs_like_the_ground(Collection(SMALL)), 0.0)
    assert ignored == [losing[0]] * 3


def test_old_stores_have_no_colours_and_do_not_say_what_is_at_the_border():
    collection = Collection(SMALL)
    collection.pairs = [(replace(d, border=None), animal) for d, animal in collection.pairs]
    description, animal = collection.pairs[0]
    assert np.mean(foreground_cells(description, learn(collection), ROUNDS) == animal) > 0.97


def test_learning_is_the_same_every_time():
    first, second = (learn(Collection(SMALL)) for _ in range(2))
    np.testing.assert_array_equal(first.weights, second.weights)
    assert first.bias == second.bias


def test_models_of_version_0_1_decide_as_they_did():
    collection, method = Collection(FILLING), Method(**METHOD_OF_0_1)
    model = learn(collection, method)
    for description, _ in collection.pairs:
        features = description.features.astype(float)
        expected = model.score(features, description.contrast, method) > 0
        np.testing.assert_array_equal(foreground_cells(description, model, method), expected)


def test_confidence_falls_where_the_photo_and_the_collection_disagree():
    collection = Collection(SMALL)
    model = learn(collection)
    description, _ = collection.pairs[0]
    sure = find_object(description, model, ROUNDS)
    assert sure.confidence > 0.9
    bound = replace(ROUNDS, cut_reach=100.0)  # with no edge to stop at, the cut takes what is open
    no_edges = replace(description, strength=np.zeros_like(description.strength))
    unsure = find_object(no_edges, model, bound)
    before = foreground_cells(description, model, replace(ROUNDS, cut_reach=0.0))
    together = (before & unsure.inside).sum() / (before | unsure.inside).sum()
    assert unsure.confidence < 0.9 and abs(unsure.confidence - together) < 0.05


def test_confidence_is_unknown_where_nothing_is_compared():
    collection = Collection(SMALL)
    model = learn(collection)
    description, animal = collection.pairs[0]
    assert find_object(replace(description, inside=animal), model, ROUNDS).confidence is None
    assert find_object(description, None, ROUNDS).confidence is None
    assert find_object(description, model, Method(**METHOD_OF_0_1)).confidence is None


def test_photos_of_nothing_have_no_object():
    collection = Collection(SMALL)
    empty = np.zeros(SIDE**2, np.float32)
    collection.pairs = [(replace(d, contrast=empty), animal) for d, animal in collection.pairs]
    model = learn(collection)
    assert not foreground_cells(collection.pairs[0][0], model, ROUNDS).any()


def test_single_regions_teach_nothing():
    collection = Collection(SMALL[:2])
    one = {"regions": np.zeros(SIDE**2, np.int32)}
    collection.pairs = [(replace(d, **one), animal) for d, animal in collection.pairs]
    assert learn(collection) is None


def test_the_first_guess_parts_the_collection_where_the_score_has_its_gap():
    features = np.repeat(np.eye(2), [30, 70], axis=0) + 0.01
    contrast = np.repeat([1.4, -0.6], [30, 70])
    contrast[10:30] = 0.8  # between the thresholds
    border = np.repeat([0.0, 0.9], [30, 70])
    for known in (border, None):
        guess = first_guess(features, contrast, known, np.ones(100))
        np.testing.assert_array_equal(guess.appearance(features) > 0, np.arange(100) < 30)


def test_models_are_mixed_by_their_log_odds():
    features = np.eye(3)
    one, other = (ForegroundModel(np.arange(3, dtype=np.float32) * k, k) for k in (1.0, 5.0))
    mixed = one.mixed_with(other, 0.25)
    np.testing.assert_allclose(mixed.appearance(features), 2 * one.appearance(features))
    np.testing.assert_array_equal(one.mixed_with(other, 0.0).weights, one.weights)


def test_a_model_cut_at_a_probability_calls_object_what_has_it():
    model = ForegroundModel(np.array([1.0, 0.5], np.float32), -0.2)
    features = np.random.default_rng(0).normal(size=(50, 2))
    probability = 1 / (1 + np.exp(-model.appearance(features)))
    for least in (0.1, 0.5, 0.9):
        found = model.cut_at(least).appearance(features) > 0
        np.testing.assert_array_equal(found, probability > least)


def test_the_threshold_is_part_of_the_fit():
    collection = Collection(SMALL)

    def bias(threshold: float) -> float:
        given = {"foreground_threshold": threshold, "numbers": ROUNDS}
        return find_foreground(collection, collection.names, settled_of(validate(given))).bias

    assert bias(0.5) == learn(collection).bias
    assert bias(0.1) == pytest.approx(bias(0.5) + np.log(9))


def test_learning_again_goes_by_how_much_each_region_belongs():
    features = np.eye(3).repeat(20, axis=0)
    model = learn_again(features, np.repeat([0.9, 0.5, 0.1], 20), np.ones(60))
    odds = model.appearance(np.eye(3))
    assert odds[0] > 1 and odds[2] < -1 and abs(odds[1]) < 0.3


@pytest.mark.parametrize("member", [0.0, 1.0])
def test_there_is_no_object_where_nothing_or_everything_is_one(member):
    model = learn_again(np.eye(4), np.full(4, member), np.ones(4))
    assert model.bias == -np.inf
