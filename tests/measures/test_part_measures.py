"""Measurements of rendered shapes whose size, axes, orientation and colour are known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from skimage.color import rgb2lab
from skimage.morphology import convex_hull_image

from partdino.parts import measures
from partdino.parts.measures import PartMeasures, measure_parts


def _ellipse(degrees: float, size: int = 400) -> np.ndarray:
    """Return a label map with an ellipse of half axes 120 and 40, turned counter-clockwise."""
    y, x = np.mgrid[:size, :size] - (size - 1) / 2
    angle = math.radians(degrees)
    along = x * math.cos(angle) - y * math.sin(angle)
    across = x * math.sin(angle) + y * math.cos(angle)
    return ((along / 120) ** 2 + (across / 40) ** 2 <= 1).astype(np.uint8)


def _one(label_map: np.ndarray, photo: np.ndarray | None = None) -> PartMeasures:
    [part] = measure_parts(label_map, photo)
    return part


@pytest.mark.parametrize("degrees", [0, 30, 45, 90, 135, 170])
def test_an_ellipse_has_its_axes_and_orientation(degrees):
    part = _one(_ellipse(degrees))
    assert part.area_px == pytest.approx(math.pi * 120 * 40, rel=2e-3)
    assert part.axis_major_px == pytest.approx(240, rel=2e-3)
    assert part.axis_minor_px == pytest.approx(80, rel=5e-3)
    assert part.orientation_deg == pytest.approx(degrees, abs=0.1)
    assert part.eccentricity == pytest.approx(math.sqrt(1 - (40 / 120) ** 2), rel=1e-3)
    assert part.equivalent_diameter_px == pytest.approx(2 * math.sqrt(120 * 40), rel=1e-3)
    ramanujan = math.pi * (3 * 160 - math.sqrt((3 * 120 + 40) * (120 + 3 * 40)))
    assert part.perimeter_px == pytest.approx(ramanujan, rel=0.01)
    assert part.solidity > 0.98 and part.pieces == 1 and part.touches_frame == 0


def test_a_square_has_no_orientation():
    label_map = np.zeros((30, 30), np.uint8)
    label_map[5:15, 5:15] = 1
    part = _one(label_map)
    assert (part.area_px, part.orientation_deg, part.eccentricity) == (100, None, 0)
    assert part.solidity == 1 and part.perimeter_px == pytest.approx(40, rel=0.08)
    assert part.axis_major_px == pytest.approx(4 * math.sqrt((10**2 - 1) / 12))


def test_shares_pieces_and_the_frame():
    label_map = np.zeros((20, 30), np.uint8)
    label_map[2:6, 2:8] = 3  # 24 pixels, two pieces with the next
    label_map[10:12, 10:16] = 3  # 12
    label_map[12, 16] = 3  # touches the second at a corner
    label_map[19, :23] = 7  # 23 along the lower edge
    third, seventh = measure_parts(label_map, None)
    assert (third.part, third.area_px, third.pieces, third.touches_frame) == (3, 37, 2, 0)
    assert (seventh.part, seventh.area_px, seventh.pieces, seventh.touches_frame) == (7, 23, 1, 1)
    assert third.share_of_object == pytest.approx(37 / 60)
    assert third.share_of_photo == pytest.approx(37 / 600)
    assert seventh.orientation_deg == 0 and seventh.axis_minor_px == 0


def test_holes_and_notches_make_a_part_less_solid():
    label_map = np.zeros((40, 40), np.uint8)
    label_map[10:30, 10:30] = 1
    label_map[15:25, 15:25] = 2
    ring, core = measure_parts(label_map, None)
    assert (ring.solidity, core.solidity) == (0.75, 1)


def test_solidity_is_that_of_skimage():
    rng = np.random.default_rng(0)
    for _ in range(200):
        mask = rng.random(rng.integers(1, 25, 2)) < rng.choice([0.05, 0.3, 0.9])
        if mask.any():
            expected = mask.sum() / convex_hull_image(mask).sum()
            assert _one(mask.astype(np.uint8)).solidity == expected


def test_a_single_pixel_and_the_whole_photo():
    label_map = np.zeros((9, 9), np.uint8)
    label_map[4, 4] = 255
    part = _one(label_map)
    assert (part.part, part.area_px, part.pieces, part.solidity) == (255, 1, 1, 1)
    assert (part.axis_major_px, part.orientation_deg) == (0, None)
    whole = _one(np.ones((5, 8), np.uint8))
    assert (whole.share_of_photo, whole.touches_frame) == (1, 1)
    assert measure_parts(np.zeros((5, 8), np.uint8), None) == []


def test_colours_are_those_of_each_part_alone():
    label_map = np.zeros((20, 20), np.uint8)
    label_map[:, 5:10], label_map[:, 10:] = 1, 2
    photo = np.full((20, 20, 3), 99, np.uint8)
    photo[:, 5:10] = (255, 0, 0)
    photo[:10, 10:], photo[10:, 10:] = 0, 255
    red, halves = measure_parts(label_map, photo)
    assert (red.red_mean, red.green_mean, red.blue_mean) == (255, 0, 0)
    assert (red.red_sd, red.green_sd, red.blue_sd) == (0, 0, 0)
    # Of sRGB red in CIELAB with D65.
    assert red.lab_l_mean == pytest.approx(53.24, abs=0.01)
    assert red.lab_a_mean == pytest.approx(80.09, abs=0.02)
    assert red.lab_b_mean == pytest.approx(67.20, abs=0.02)
    assert (halves.red_mean, halves.green_sd) == (127.5, 127.5)
    assert halves.lab_l_mean == pytest.approx(50) and halves.lab_l_sd == pytest.approx(50)


def test_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(1)
    label_map = rng.integers(0, 4, (37, 23), dtype=np.uint8)
    photo = rng.integers(0, 256, (37, 23, 3), dtype=np.uint8)
    monkeypatch.setattr(measures, "_BLOCK_PIXELS", 50)
    for part in measure_parts(label_map, photo):
        rgb = photo[label_map == part.part]
        lab = rgb2lab(rgb[None])[0]
        assert [part.red_mean, part.green_mean, part.blue_mean] == pytest.approx(rgb.mean(0))
        assert [part.red_sd, part.green_sd, part.blue_sd] == pytest.approx(rgb.std(0))
        means = [part.lab_l_mean, part.lab_a_mean, part.lab_b_mean]
        deviations = [part.lab_l_sd, part.lab_a_sd, part.lab_b_sd]
        assert means == pytest.approx(lab.mean(0), abs=1e-4)
        assert deviations == pytest.approx(lab.std(0), abs=1e-4)


def test_without_a_photo_there_are_no_colours():
    part = _one(np.ones((4, 4), np.uint8))
    assert part.red_mean is None and part.lab_b_sd is None


def test_a_photo_of_another_size_is_refused():
    with pytest.raises(ValueError, match="label map"):
        measure_parts(np.ones((4, 5), np.uint8), np.zeros((5, 4, 3), np.uint8))


def test_a_photo_without_an_object_has_no_parts():
    nothing = np.zeros((5, 7), np.uint8)
    assert measure_parts(nothing, None) == []
    assert measure_parts(nothing, np.full((5, 7, 3), 90, np.uint8)) == []
