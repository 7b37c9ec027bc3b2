"""Boundaries one pixel wide: the ridges of a boundary map."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partdino.describe.regions.adjacency import find_borders
from partdino.describe.regions.methods.watershed import watershed_regions

# A basin of the map that is shallower than this is a dent in one thick boundary, not a thing
# between two.
DEPTH = 0.1


@dataclass(frozen=True, eq=False)
class Crossings:
    """Steps from a pixel to a 4-connected neighbour that cross a boundary.

    Attributes
    ----------
    pixels
        int32 (2, P), flat indices of the two pixels of each step.
    strength
        float32 (P,) in [0, 1], of the boundary that is crossed.
    """

    pixels: np.ndarray
    strength: np.ndarray


def find_ridges(boundary_map: np.ndarray) -> Crossings:
    """Thin a boundary map to the ridges between its basins.

    The map is flooded (watershed); basins no deeper than `DEPTH` are merged away. The ridges are
    where two basins touch. Unlike regions, they have a strength, so that weak ones can be left out.

    Parameters
    ----------
    boundary_map
        float (H, W) in [0, 1], 1 = boundary.

    Returns
    -------
    Crossings
        The strength of a step is the higher value of its two pixels.
    """
    borders = find_borders(watershed_regions(boundary_map, DEPTH))
    strength = borders.heights(boundary_map).astype(np.float32)
    return Crossings(borders.pixels.astype(np.int32), strength)


def find_label_borders(labels: np.ndarray) -> Crossings:
    """Return the steps between different labels of an int (H, W) map; all have strength 1."""
    pixels = find_borders(labels).pixels.astype(np.int32)
    return Crossings(pixels, np.ones(pixels.shape[1], np.float32))
