"""Measurements of the parts of one photo: size, shape and colour."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np
from scipy.ndimage import find_objects
from scipy.spatial import ConvexHull
from skimage.color import rgb2lab
from skimage.measure import label, regionprops

# Pixels whose colours are converted at a time: bounds the memory of large photos.
_BLOCK_PIXELS = 500_000
_NO_AXIS = 1e-6  # relative difference of the axes from which on an orientation means something
_ON_THE_EDGE = 1e-9  # pixels: a centre so far outside the hull lies on it
_EDGE_CENTRES = np.array([(-0.5, 0.0), (0.5, 0.0), (0.0, -0.5), (0.0, 0.5)])  # of a pixel's sides


@dataclass(frozen=True)
class PartMeasures:
    """The measurements of one part; all lengths are in pixels of the upright photo.

    Attributes
    ----------
    part
        Part number, 1..K.
    area_px
        Number of pixels, above 0; of all pieces together, as everything here.
    share_of_object, share_of_photo
        The area as a share of all parts', and of the photo's, in (0, 1].
    perimeter_px
        Length of the outline, those of holes and the sides along the frame included, by Crofton's
        formula in 4 directions: within 1% for large ellipses; squares come out 5 to 8% short, a
        disc of radius 5 3% long.
    equivalent_diameter_px
        Diameter of the disc of the same area.
    axis_major_px, axis_minor_px
        Length of the axes of the ellipse with the same second moments.
    orientation_deg
        Angle of the major axis against the horizontal in [0, 180), counter-clockwise as seen: 0
        lies, 90 stands, 45 rises to the right. None where no axis is longer than the other.
    eccentricity
        Of that ellipse, in [0, 1]: 0 is a circle.
    solidity
        Area over the number of pixels in the convex hull, in (0, 1].
    pieces
        Number of connected pieces; pixels that touch at a corner are connected.
    touches_frame
        1 where the part has pixels at the edge of the photo, which may have cut it, else 0.
    red_mean, red_sd, green_mean, green_sd, blue_mean, blue_sd
        Mean and standard deviation (over N) of the pixels' sRGB values, 0 to 255; None without a
        photo.
    lab_l_mean, lab_l_sd, lab_a_mean, lab_a_sd, lab_b_mean, lab_b_sd
        The same in CIELAB (D65, 2 degrees): L* from 0 to 100, a* from green to red, b* from blue to
        yellow.
    """

    part: int
    area_px: int
    share_of_object: float
    share_of_photo: float
    perimeter_px: float
    equivalent_diameter_px: float
    axis_major_px: float
    axis_minor_px: float
    orientation_deg: float | None
    eccentricity: float
    solidity: float
    pieces: int
    touches_frame: int
    red_mean: float | None
    red_sd: float | None
    green_mean: float | None
    green_sd: float | None
    blue_mean: float | None
    blue_sd: float | None
    lab_l_mean: float | None
    lab_l_sd: float | None
    lab_a_mean: float | None
    lab_a_sd: float | None
    lab_b_mean: float | None
    lab_b_sd: float | None


MEASURES = tuple(f.name for f in fields(PartMeasures) if f.name != "part")
_CHANNELS = 6  # of RGB and of CIELAB


def measure_parts(label_map: np.ndarray, photo: np.ndarray | None) -> list[PartMeasures]:
    """Measure every part that is present.

    Parameters
    ----------
    label_map
        uint8 (H, W): 0 = background, 1..K = parts.
    photo
        uint8 (H, W, 3) sRGB of the same size, or None: the colours are None then.

    Returns
    -------
    list of PartMeasures
        In order of part number; empty where all is background.

    Raises
    ------
    ValueError
        The photo is of another size.

    Examples
    --------
    >>> label_map = np.zeros((10, 20), np.uint8)
    >>> label_map[2:6, 3:13] = 1
    >>> [part] = measure_parts(label_map, None)
    >>> part.area_px, part.orientation_deg, part.solidity, part.pieces, part.touches_frame
    (40, 0.0, 1.0, 1, 0)
    """
    if photo is not None and photo.shape[:2] != label_map.shape:
        raise ValueError(f"a photo of {photo.shape[:2]} and a label map of {label_map.shape}")
    object_area = int(np.count_nonzero(label_map))
    colours = {} if photo is None else _colours(label_map, photo)
    boxes = enumerate(find_objects(label_map), start=1)
    return [
        _measure(label_map, box, part, object_area, colours.get(part, (None,) * 2 * _CHANNELS))
        for part, box in boxes
        if box is not None
    ]


def _measure(
    label_map: np.ndarray, box: tuple[slice, slice], part: int, object_area: int, colours: tuple
) -> PartMeasures:
    mask = label_map[box] == part
    [region] = regionprops(mask.astype(np.uint8))
    area = int(region.area)
    major, minor = float(region.axis_major_length), float(region.axis_minor_length)
    return PartMeasures(
        part,
        area,
        area / object_area,
        area / label_map.size,
        float(region.perimeter_crofton),
        float(region.equivalent_diameter_area),
        major,
        minor,
        None if major - minor <= _NO_AXIS * major else _orientation(float(region.orientation)),
        float(region.eccentricity),
        area / _hull_pixels(mask),
        int(label(mask, connectivity=2, return_num=True)[1]),
        int(any(_at_frame(side, size) for side, size in zip(box, label_map.shape, strict=True))),
        *colours,
    )


def _at_frame(side: slice, size: int) -> bool:
    return side.start == 0 or side.stop == size


def _orientation(angle: float) -> float:
    """Return degrees in [0, 180) from skimage's angle against the vertical, in radians."""
    return round(math.degrees(angle) + 90, 9) % 180


def _hull_pixels(mask: np.ndarray) -> int:
    """Count the pixels in the convex hull of a mask, as `skimage.morphology.convex_hull_image` has.

    Row by row, from the sides of the hull: drawing the hull takes most of the time otherwise.
    """
    rows = np.flatnonzero(mask.any(axis=1))
    first = mask[rows].argmax(axis=1)
    last = mask.shape[1] - 1 - mask[rows, ::-1].argmax(axis=1)
    ends = np.concatenate([np.stack([rows, first], 1), np.stack([rows, last], 1)])
    corners = (ends[:, None] + _EDGE_CENTRES).reshape(-1, 2)
    down, across, offset = ConvexHull(corners).equations.T  # at most 0 inside
    every_row = np.arange(rows[0], rows[-1] + 1)[:, None]
    left, right = across < 0, across > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = -(down * every_row + offset) / across
    start = np.ceil(crossing[:, left].max(axis=1) - _ON_THE_EDGE)
    end = np.floor(crossing[:, right].min(axis=1) + _ON_THE_EDGE)
    return int((end - start + 1).sum())


def _colours(label_map: np.ndarray, photo: np.ndarray) -> dict[int, tuple[float, ...]]:
    """Return means and deviations of the channels of each part, in the order of the fields."""
    count = np.zeros(256)
    sums, squares = np.zeros((2, 256, _CHANNELS))
    for labels, values in _pixels(label_map, photo):
        count += np.bincount(labels, minlength=256)
        for channel in range(_CHANNELS):
            each = values[:, channel]
            sums[:, channel] += np.bincount(labels, each, 256)
            squares[:, channel] += np.bincount(labels, each * each, 256)
    present = np.flatnonzero(count)
    mean = sums[present] / count[present, None]
    spread = np.sqrt(np.maximum(squares[present] / count[present, None] - mean**2, 0))
    both = np.stack([mean, spread], axis=2).reshape(-1, 2 * _CHANNELS)
    return {int(part): tuple(row.tolist()) for part, row in zip(present, both, strict=True)}


def _pixels(label_map: np.ndarray, photo: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield labels (N,) and RGB with CIELAB, float64 (N, 6), of the object's pixels, in blocks."""
    step = max(1, _BLOCK_PIXELS // label_map.shape[1])
    for top in range(0, len(label_map), step):
        inside = label_map[top : top + step] > 0
        if inside.any():
            rgb = photo[top : top + step][inside]
            lab = rgb2lab(rgb.astype(np.float32) / 255)
            yield label_map[top : top + step][inside], np.hstack([rgb, lab]).astype(np.float64)
