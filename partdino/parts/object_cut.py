"""Cutting the object out of one photo: by what the collection knows, its own colours and edges.

A classifier of the whole collection leaves out what it has not met: a black wing tip, a white
bumper. Within one photo such pieces have the colours of the rest of the object, or no edge parts
them from it. Colours of object and background are estimated from what is taken to be which, and
what is which from the colours, as GrabCut (Rother et al. 2004) does; but on cells instead of
pixels, and with densities instead of mixtures, so that nothing depends on chance. Only cells near
the outline are open: features see further than a cell, so what they know ends beside the outline,
not far from it.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.ndimage import gaussian_filter
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from partdino.describe.description import ImageDescription
from partdino.method import DEFAULT_METHOD, Method
from partdino.parts.graph_cut import cut_graph

_ITERATIONS = 2
_BINS_A_WIDTH = 1.5  # of the histogram of colours: finer ones change nothing
_REACH = 3.0  # widths, beyond which colours are not alike at all
_LEAST_DENSITY = 1e-4  # a colour that neither side has tells nothing


class ObjectCut:
    """The cut of one described photo.

    Parameters
    ----------
    description
        Of the photo; without `colours`, its edges alone tell. What its `hints` say is certain.
    method
        For `open_cells`, `appearance_weight`, `colour_width`, `colour_weight`, `cut_reach`,
        `strength` and `least_piece`.
    """

    def __init__(self, description: ImageDescription, method: Method = DEFAULT_METHOD) -> None:
        self._method = method
        self._areas = description.areas.astype(np.float64)
        self._ends = description.edges.astype(np.int64).T
        weak = np.exp(-description.strength.astype(np.float64) / method.strength)
        width = np.sqrt(self._areas.sum()) / method.lattice  # of a cell: areas into lengths
        self._binding = method.cut_reach * width * description.border_length * weak
        self._colours = description.colours
        none = np.zeros(len(self._areas), np.int8)
        self._hints = none if description.hints is None else description.hints

    def inside(self, log_odds: np.ndarray) -> np.ndarray:
        """Tell which cells are the object.

        Parameters
        ----------
        log_odds
            float (C,), of the collection's classifier: positive for object.

        Returns
        -------
        bool (C,)
        """
        told = self._hints != 0
        inside = np.where(told, self._hints > 0, log_odds > 0)
        far = told | ~self._near_outline(inside)
        certain = np.where(inside, np.inf, -np.inf)
        known = self._method.appearance_weight * log_odds
        for _ in range(_ITERATIONS):
            if inside.all() or not inside.any():
                return inside
            odds = known + self._colour_log_odds(inside)
            odds = np.where(far, certain, self._areas * odds)
            inside = cut_graph(odds, self._ends, self._binding)
        return inside

    def clean(self, inside: np.ndarray) -> np.ndarray:
        """Return bool (C,), an object without its smallest pieces and holes but those of hints."""
        for kind in (True, False):
            least = self._method.least_piece * self._areas[inside].sum()
            inside = self._without_small(inside, kind, least)
        return inside

    def _near_outline(self, inside: np.ndarray) -> np.ndarray:
        """Return bool (C,), cells that are `open_cells` from the other side at most."""
        near = np.zeros(len(inside), bool)
        crossing = inside[self._ends[0]] != inside[self._ends[1]]
        near[self._ends[:, crossing]] = True
        for _ in range(self._method.open_cells - 1):
            touching = near[self._ends].any(axis=0)
            near[self._ends[:, touching]] = True
        return near

    def _colour_log_odds(self, inside: np.ndarray) -> np.ndarray | float:
        """Return float64 (C,), how much likelier each cell's colour is in the object."""
        if self._colours is None:
            return 0.0
        of_object, of_background = map(self._density, (inside, ~inside))
        odds = np.log((of_object + _LEAST_DENSITY) / (of_background + _LEAST_DENSITY))
        return odds.clip(-self._method.colour_weight, self._method.colour_weight)

    def _density(self, member: np.ndarray) -> np.ndarray:
        """Return float64 (C,), the mean likeness of each cell's colour to those of the members."""
        weights = self._areas * member
        bins, shape = self._bins
        histogram = np.zeros(shape)
        np.add.at(histogram, bins, weights / weights.sum())
        blurred = gaussian_filter(histogram, _BINS_A_WIDTH, mode="constant", truncate=_REACH)
        # Normalised by scipy to a sum of one; a colour is alike by one to itself.
        return blurred[bins] * (np.sqrt(2 * np.pi) * _BINS_A_WIDTH) ** 3

    @cached_property
    def _bins(self) -> tuple[tuple[np.ndarray, ...], tuple[int, ...]]:
        """Return the bin of each cell's colour along three axes, and how many bins there are."""
        width = self._method.colour_width * np.array([2 / 3, 1, 1]) / _BINS_A_WIDTH
        places = np.asarray(self._colours, np.float64) / width
        bins = np.rint(places - places.min(axis=0)).astype(np.int64)
        return tuple(bins.T), tuple(bins.max(axis=0) + 1)

    def _without_small(self, inside: np.ndarray, kind: bool, least: float) -> np.ndarray:
        """Give pieces of the object, or of what is not, to the other side if they are small."""
        within = (inside[self._ends] == kind).all(axis=0)
        pairs = self._ends[:, within]
        graph = csr_matrix((np.ones(pairs.shape[1]), tuple(pairs)), shape=(len(inside),) * 2)
        _, piece = connected_components(graph, directed=False)
        small = np.bincount(piece, self._areas)[piece] < least
        small &= np.bincount(piece, self._hints > 0 if kind else self._hints < 0)[piece] == 0
        return np.where((inside == kind) & small, not kind, inside)
