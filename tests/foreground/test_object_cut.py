"""Cutting an object out of one photo, by what is known of it, its colours and edges."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from skimage.segmentation import find_boundaries

from partdino.describe.colours import mean_colours
from partdino.describe.description import ImageDescription
from partdino.describe.regions import region_adjacency
from partdino.method import DEFAULT_METHOD
from partdino.parts.object_cut import ObjectCut

SIDE, CELL = 20, 4  # cells, pixels
BLACK, GREEN = (20, 20, 20), (60, 160, 60)


def described(colours: np.ndarray, animal: np.ndarray) -> ImageDescription:
    """A square photo of uint8 (SIDE, SIDE, 3) coloured cells, with an edge around the animal."""
    cells = np.arange(SIDE**2).reshape(SIDE, SIDE).repeat(CELL, 0).repeat(CELL, 1).astype(np.int32)
    image = colours.repeat(CELL, 0).repeat(CELL, 1)
    boundary = find_boundaries(animal.repeat(CELL, 0).repeat(CELL, 1)).astype(np.float32)
    edges, border_length, strength = region_adjacency(cells, boundary)
    return ImageDescription(
        size=cells.shape,
        cells=cells,
        regions=np.arange(SIDE**2, dtype=np.int32),
        areas=np.full(SIDE**2, CELL**2),
        features=np.zeros((SIDE**2, 1), np.float16),
        contrast=np.zeros(SIDE**2, np.float32),
        edges=edges,
        border_length=border_length,
        strength=strength.astype(np.float16),
        colours=mean_colours(image, cells),
    )


def scene() -> tuple[np.ndarray, np.ndarray]:
    """A black animal on green: colours uint8 (SIDE, SIDE, 3), and bool (SIDE, SIDE)."""
    animal = np.zeros((SIDE, SIDE), bool)
    animal[5:15, 4:16] = True
    colours = np.where(animal[..., None], BLACK, GREEN).astype(np.uint8)
    noise = np.random.default_rng(0).integers(0, 15, colours.shape)
    return (colours + noise).astype(np.uint8), animal


def cut(description: ImageDescription, odds: np.ndarray) -> np.ndarray:
    return ObjectCut(description).inside(odds.ravel()).reshape(SIDE, SIDE)


def test_near_the_outline_what_the_collection_leaves_open_goes_by_its_colour():
    colours, animal = scene()
    odds = np.where(animal, 1.0, -1.0)
    odds[5:15, 14:16] = -0.3  # the edge of a wing that the classifier takes for background
    np.testing.assert_array_equal(cut(described(colours, animal), odds), animal)


def test_far_from_the_outline_the_collection_is_right():
    colours, animal = scene()
    odds = np.where(animal, 1.0, -1.0)
    stone = np.zeros_like(animal)
    stone[1:3, 0:4] = True
    colours[stone], odds[stone] = BLACK, -0.1
    description = described(colours, animal | stone)
    np.testing.assert_array_equal(cut(description, odds), animal)
    all_open = ObjectCut(description, replace(DEFAULT_METHOD, open_cells=SIDE))
    found = all_open.inside(odds.ravel()).reshape(SIDE, SIDE)
    np.testing.assert_array_equal(found, animal | stone)


def test_what_the_collection_is_sure_of_stays_whatever_its_colour():
    colours, animal = scene()
    odds = np.where(animal, 5.0, -5.0)
    odds[0:4, 0:20] = -5.0
    colours[0:4] = BLACK  # a black wall
    np.testing.assert_array_equal(cut(described(colours, animal), odds), animal)


def test_without_colours_the_edges_tell():
    _, animal = scene()
    description = replace(described(scene()[0], animal), colours=None)
    odds = np.where(animal, 1.0, -1.0)
    odds[9:11, 14:16] = -0.2
    np.testing.assert_array_equal(cut(description, odds), animal)


def test_a_photo_of_one_colour_is_cut_by_what_is_known():
    _, animal = scene()
    grey = np.full((SIDE, SIDE, 3), 128, np.uint8)
    found = cut(described(grey, animal), np.where(animal, 9.0, -9.0))
    np.testing.assert_array_equal(found, animal)


@pytest.mark.parametrize("odds", [-50.0, 50.0])
def test_all_of_one_kind(odds):
    inside = ObjectCut(described(*scene())).inside(np.full(SIDE**2, odds))
    assert (inside == (odds > 0)).all()


def test_specks_and_holes_are_cleaned_away_and_large_ones_stay():
    colours, animal = scene()
    inside = animal.copy()
    inside[8, 8] = False  # a hole
    inside[1, 1] = True  # a speck
    inside[10:13, 10:13] = False
    inside[17:20, 17:20] = True  # another animal
    expected = inside.copy()
    expected[8, 8], expected[1, 1] = True, False
    cleaned = ObjectCut(described(colours, animal)).clean(inside.ravel())
    np.testing.assert_array_equal(cleaned.reshape(SIDE, SIDE), expected)


def test_nothing_and_everything_are_clean():
    one = ObjectCut(described(*scene()), replace(DEFAULT_METHOD, least_piece=0.9))
    for value in (False, True):
        assert (one.clean(np.full(SIDE**2, value)) == value).all()


def hinted(description: ImageDescription, said: dict[tuple[int, int], int]) -> ImageDescription:
    hints = np.zeros((SIDE, SIDE), np.int8)
    for place, side in said.items():
        hints[place] = side
    return replace(description, hints=hints.ravel())


def test_what_a_person_says_of_a_cell_is_certain_whatever_else_speaks_for():
    colours, animal = scene()
    odds = np.where(animal, 9.0, -9.0)
    description = hinted(described(colours, animal), {(8, 8): -1, (0, 0): 1, (19, 19): -2})
    inside = cut(description, odds)
    assert (inside[8, 8], inside[0, 0], inside[19, 19]) == (False, True, False)
    assert (inside == animal).sum() == SIDE**2 - 2


def test_pieces_and_holes_of_hints_are_never_too_small():
    colours, animal = scene()
    inside = animal.copy()
    inside[0, 0], inside[8, 8], inside[2, 2], inside[10, 10] = True, False, True, False
    description = hinted(described(colours, animal), {(0, 0): 1, (8, 8): -1})
    cleaned = ObjectCut(description).clean(inside.ravel()).reshape(SIDE, SIDE)
    assert (cleaned[0, 0], cleaned[8, 8], cleaned[2, 2], cleaned[10, 10]) == (
        True,
        False,
        False,
        True,
    )
