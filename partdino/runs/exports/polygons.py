"""Outlines along the edges of pixels, so that an area and its outline are exactly the same."""

from __future__ import annotations

import cv2
import numpy as np

from partdino.parts.result import PartGeometry, PartSegmentation


def outlines(mask: np.ndarray) -> list[tuple[np.ndarray, bool]]:
    """Trace all outlines of an area along the edges of its pixels.

    Corners are where an odd number of the four pixels around is inside; those of a row, in pairs,
    are the ends of its edges, and so are those of a column. Where two pixels touch at a corner
    alone, the outline turns so that they are two pieces.

    Parameters
    ----------
    mask
        bool (H, W).

    Returns
    -------
    list of (int (N, 2), bool)
        Corners (x, y) in order, counted from the left upper edge of the image, without the first
        one again; and whether it is the outline of a hole.

    Examples
    --------
    >>> [(ring, hole)] = outlines(np.ones((1, 2), bool))
    >>> ring.tolist(), hole
    ([[0, 0], [2, 0], [2, 1], [0, 1]], False)
    """
    padded = np.pad(mask, 1)
    left_up, right_up = padded[:-1, :-1], padded[:-1, 1:]
    left_down, right_down = padded[1:, :-1], padded[1:, 1:]
    touching = (left_up == right_down) & (right_up == left_down) & (left_up != right_up)
    y, x = np.nonzero((left_up ^ right_up ^ left_down ^ right_down) | touching)
    # Where pixels touch there are two corners: at the first ends an edge from the left, at the
    # second begins one to the right.
    index = np.repeat(np.arange(len(y)), 1 + touching[y, x])
    second = np.diff(index, prepend=-1) == 0
    y, x = y[index], x[index]
    # Which of the two an edge from above leads to decides what is one piece.
    order = np.lexsort((second ^ right_up[y, x], y, x))
    along_column = np.empty(len(y), int)
    along_column[order[0::2]], along_column[order[1::2]] = order[1::2], order[0::2]
    points = np.stack([x, y], axis=1)
    rings = _cycles(along_column.tolist())
    # A ring begins at the leftmost of its uppermost corners: right below it is what it surrounds.
    return [(points[ring], not right_down[y[ring[0]], x[ring[0]]]) for ring in rings]


def polygons(mask: np.ndarray) -> list[np.ndarray]:
    """Cut an area into polygons without holes, none of which overlap; together they are the area.

    A piece with holes is cut open at each along a column of pixels, as formats of polygons have no
    holes.

    Parameters
    ----------
    mask
        bool (H, W).

    Returns
    -------
    list of int (N, 2)
        Corners (x, y), as `outlines` gives them.

    Examples
    --------
    >>> ring = np.ones((3, 3), bool)
    >>> ring[1, 1] = False
    >>> len(outlines(ring)), len(polygons(ring))
    (2, 2)
    """
    rings = outlines(mask)
    if not any(hole for _, hole in rings):
        return [ring for ring, _ in rings]
    found: list[np.ndarray] = []
    count, pieces, boxes, _ = cv2.connectedComponentsWithStats(
        mask.astype(np.uint8), connectivity=4
    )
    for number in range(1, count):
        x, y, width, height = boxes[number, :4].tolist()
        piece = pieces[y : y + height, x : x + width] == number
        rings = outlines(piece)
        holes = [ring for ring, hole in rings if hole]
        if not holes:
            found.extend(_moved([ring for ring, _ in rings], x, y))
            continue
        middles = sorted((int(hole[:, 0].min()) + int(hole[:, 0].max())) // 2 for hole in holes)
        cut = middles[len(middles) // 2]  # in the middle, so that few cuts are within each other
        found.extend(_moved(polygons(piece[:, :cut]), x, y))
        found.extend(_moved(polygons(piece[:, cut:]), x + cut, y))
    return found


def part_polygons(result: PartSegmentation, part: PartGeometry) -> list[np.ndarray]:
    """Return the polygons of a part of a result; see `polygons`."""
    return _moved(polygons(part.mask(result)), *part.box[:2])


def _moved(rings: list[np.ndarray], x: int, y: int) -> list[np.ndarray]:
    return [ring + np.array((x, y)) for ring in rings]


def _cycles(along_column: list[int]) -> list[list[int]]:
    """Follow edges along rows (corners 0-1, 2-3, ...) and columns in turn, until they close."""
    rings: list[list[int]] = []
    seen = bytearray(len(along_column))
    for start in range(0, len(along_column), 2):
        ring: list[int] = []
        corner = start
        while not seen[corner]:
            other = corner ^ 1
            seen[corner] = seen[other] = True
            ring += (corner, other)
            corner = along_column[other]
        if ring:
            rings.append(ring)
    return rings
