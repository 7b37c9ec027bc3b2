"""What a scene says about its image is true: masks, keypoints, sides, sizes."""

from __future__ import annotations

import numpy as np
import pytest

from partdino.evaluation.synth import Scene, render_animal, render_face
from partdino.evaluation.synth.bird import BIRD_KEYPOINTS, bird
from partdino.evaluation.synth.figure import Figure
from partdino.evaluation.synth.geometry import blob, ellipse, limb, polygon
from partdino.evaluation.synth.paint import paint, part_labels, rasterise

SIZES = [(96, 128), (128, 96), (64, 64)]

BIRD_PART_OF = {
    "back": "body",
    "beak": "beak",
    "belly": "body",
    "breast": "body",
    "crown": "head",
    "forehead": "head",
    "left eye": "head",
    "left leg": "leg",
    "left wing": "wing",
    "nape": "head",
    "right eye": "head",
    "right leg": "leg",
    "right wing": "wing",
    "tail": "tail",
    "throat": "head",
}
QUADRUPED_PART_OF = {"nose": "head", "eye": "head", "ear": "ear", "tail tip": "tail", "paw": "leg"}
FACE_PART_OF = {"eye": "eye", "nose": "nose", "mouth": "mouth"}


def rendered(kind: str, seed: int, height: int = 96, width: int = 128) -> Scene:
    rng = np.random.default_rng(seed)
    if kind == "face":
        return render_face(rng, height, width)
    return render_animal(rng, height, width, kind=kind)


def part_of(kind: str, keypoint: str) -> str:
    if kind == "bird":
        return BIRD_PART_OF[keypoint]
    table = QUADRUPED_PART_OF if kind == "quadruped" else FACE_PART_OF
    return next((part for word, part in table.items() if keypoint.endswith(word)), "body")


@pytest.mark.parametrize("kind", ["quadruped", "bird", "face"])
@pytest.mark.parametrize("seed", range(4))
def test_visible_keypoints_lie_on_their_part(kind: str, seed: int) -> None:
    height, width = SIZES[seed % len(SIZES)]
    scene = rendered(kind, seed, height, width)
    assert scene.image.shape == (height, width, 3) and scene.image.dtype == np.uint8
    assert scene.labels.shape == (height, width) and scene.labels.dtype == np.uint8
    assert scene.labels.max() <= len(scene.part_names)
    assert scene.keypoints[:, 2].sum() >= len(scene.keypoint_names) / 2
    for name, (x, y, visible) in zip(scene.keypoint_names, scene.keypoints, strict=True):
        if visible:
            assert x % 1 == y % 1 == 0.5
            label = scene.labels[int(y), int(x)]
            assert scene.part_names[label - 1] == part_of(kind, name), name


@pytest.mark.parametrize("kind", ["quadruped", "bird", "face"])
def test_every_individual_has_every_part(kind: str) -> None:
    for seed in range(4):
        scene = rendered(kind, seed, 160, 160)
        present = np.unique(scene.labels).tolist()
        # Clothes may be below the frame.
        expected = len(scene.part_names) - (kind == "face")
        assert present[: expected + 1] == list(range(expected + 1))


@pytest.mark.parametrize("kind", ["quadruped", "bird"])
def test_same_seed_same_scene_and_another_seed_another(kind: str) -> None:
    first, again, other = (rendered(kind, seed) for seed in (7, 7, 8))
    for field in ("image", "labels", "keypoints"):
        assert np.array_equal(getattr(first, field), getattr(again, field))
    assert not np.array_equal(first.labels, other.labels)


def test_species_decides_proportions_and_colours_but_not_the_pose() -> None:
    def figure(species: int) -> Figure:
        return bird(np.random.default_rng(0), np.random.default_rng(species))

    first, again, other = figure(1), figure(1), figure(2)
    assert [s.colour for s in first.shapes] == [s.colour for s in again.shapes]
    assert [s.colour for s in first.shapes] != [s.colour for s in other.shapes]
    assert not np.allclose(first.bounds(), other.bounds())


def test_the_side_that_shows_is_left_when_it_faces_left() -> None:
    left, right, beak = (BIRD_KEYPOINTS.index(n) for n in ("left eye", "right eye", "beak"))
    facing = set()
    for seed in range(8):
        points = rendered("bird", seed).keypoints
        assert points[left, 2] + points[right, 2] == 1
        seen = left if points[left, 2] else right
        assert (points[beak, 0] < points[seen, 0]) == (seen == left)
        facing.add(seen)
    assert facing == {left, right}


def test_nothing_is_painted_outside_the_mask() -> None:
    figure = bird(np.random.default_rng(0), np.random.default_rng(1)).placed(60, (64, 50), True)
    canvas = np.full((96, 128, 3), 0.5, np.float32)
    changed = np.any(paint(np.random.default_rng(2), canvas, figure) != canvas, axis=-1)
    top = rasterise(figure, 96, 128)
    covered = (top > 0).reshape(96, 4, 128, 4).any(axis=(1, 3))
    labels = part_labels(figure, top)
    assert not changed[~covered].any()
    assert changed[labels > 0].mean() > 0.99
    assert np.all(canvas == 0.5)


def test_a_rectangle_covers_its_pixels_exactly() -> None:
    figure = Figure(("back", "front"))
    figure.add("back", polygon([(2, 3), (10, 3), (10, 9), (2, 9)]), (1, 1, 1))
    figure.add("front", polygon([(6, 3), (12, 3), (12, 5), (6, 5)]), (1, 1, 1))
    expected = np.zeros((12, 16), np.uint8)
    expected[3:9, 2:10] = 1
    expected[3:5, 6:12] = 2
    assert np.array_equal(part_labels(figure, rasterise(figure, 12, 16)), expected)


def test_a_hidden_keypoint_keeps_its_place_and_a_turned_away_one_has_none() -> None:
    for seed in range(6):
        scene = rendered("quadruped", seed)
        points = dict(zip(scene.keypoint_names, scene.keypoints, strict=True))
        hidden_eye = min(points["left eye"], points["right eye"], key=lambda point: point[2])
        assert hidden_eye.tolist() == [0, 0, 0]
        assert all(points[name][0] > 0 for name in points if name.endswith("paw"))


@pytest.mark.parametrize("share", [0.3, 0.8])
def test_faces_have_the_size_asked_for(share: float) -> None:
    scene = render_face(np.random.default_rng(3), 200, 240, size=share)
    face_height = scene.box(("hair", "eye", "nose", "mouth"))[3]
    assert face_height == pytest.approx(share * 200, abs=0.06 * 200)


def test_box_is_tight_around_the_pixels() -> None:
    scene = rendered("bird", 1)
    x, y, width, height = scene.box()
    inside = scene.labels[y : y + height, x : x + width] > 0
    assert inside.sum() == (scene.labels > 0).sum()
    assert all(edge.any() for edge in (inside[0], inside[-1], inside[:, 0], inside[:, -1]))


def test_outlines_pass_where_they_should() -> None:
    points = np.array([(0, -1), (1, 0), (0, 1), (-1, 0)], float)
    (curve,) = blob(points, samples=400)
    assert np.linalg.norm(curve[:, None] - points, axis=2).min(axis=0).max() < 0.02
    (oval,) = ellipse((5, 6), 2, 1, np.pi / 2)
    assert np.allclose([oval.min(axis=0), oval.max(axis=0)], [(4, 4), (6, 8)], atol=0.02)
    arm = np.concatenate(limb([(0, 0), (10, 0)], [1, 2]))
    assert np.allclose([arm.min(axis=0), arm.max(axis=0)], [(-1, -2), (12, 2)], atol=0.1)
