"""Telling the objects of one photo apart, such as two birds on a branch, by its label map alone."""

from __future__ import annotations

import cv2
import numpy as np
from scipy.spatial import cKDTree

# Of the largest piece's area: two birds one of which is up to twice as far away. With less, more of
# what a twig cuts off would be objects, and more leaves that were taken for the object.
LEAST_SHARE = 0.25
_MOST = np.iinfo(np.uint16).max  # objects: the largest number that a grey PNG holds
_CROSS = cv2.getStructuringElement(cv2.MORPH_CROSS, (3, 3))


def find_instances(label_map: np.ndarray, least_share: float = LEAST_SHARE) -> np.ndarray:
    """Number the objects of a label map.

    Pixels of any part that touch, at a corner, too, are one piece. A piece with at least a share of
    the largest one's area is an object; a smaller one belongs to the object that is nearest, from
    outline to outline. Objects that touch are one.

    Parameters
    ----------
    label_map
        uint8 (H, W): 0 = background, else parts.
    least_share
        Of the largest piece's area, in [0, 1].

    Returns
    -------
    np.ndarray
        (H, W), 0 = background, 1..n = objects from left to right by their pieces' mean place;
        uint8, or uint16 where there are more than 255.

    Examples
    --------
    >>> find_instances(np.array([[1, 2, 0, 0, 3], [1, 0, 0, 1, 3]], np.uint8)).tolist()
    [[1, 1, 0, 0, 2], [1, 0, 0, 2, 2]]
    """
    inside = (label_map > 0).view(np.uint8)
    count, pieces, stats, middles = cv2.connectedComponentsWithStats(inside, connectivity=8)
    areas = stats[1:, cv2.CC_STAT_AREA]
    large = 1 + np.flatnonzero(areas >= least_share * areas.max(initial=0))
    if len(large) < 2:
        return inside
    large = np.sort(large[np.argsort(-areas[large - 1], kind="stable")][:_MOST])
    left_to_right = large[np.lexsort((middles[large, 1], middles[large, 0]))]
    numbers = np.zeros(count, np.min_scalar_type(len(large)))
    numbers[left_to_right] = np.arange(1, len(large) + 1)
    if len(large) < count - 1:
        _join_small(numbers, pieces, inside)
    return numbers[pieces]


def count_pieces(inside: np.ndarray, least_share: float) -> int:
    """Count the connected pieces of an object, bool (H, W), that have such a share of its area."""
    areas = cv2.connectedComponentsWithStats(inside.view(np.uint8), connectivity=8)[2]
    areas = areas[1:, cv2.CC_STAT_AREA]
    return int((areas >= max(1, least_share * areas.sum())).sum())


def _join_small(numbers: np.ndarray, pieces: np.ndarray, inside: np.ndarray) -> None:
    """Give pieces without a number that of the nearest one that has, in place."""
    outline = np.argwhere(inside > cv2.erode(inside, _CROSS))
    piece = pieces[tuple(outline.T)]
    numbered = numbers[piece] > 0
    tree = cKDTree(outline[numbered])
    distance, nearest = tree.query(outline[~numbered])
    found = numbers[piece[numbered]][nearest]
    order = np.lexsort((found, distance, piece[~numbered]))
    small, first = np.unique(piece[~numbered][order], return_index=True)
    numbers[small] = found[order][first]
