"""Cutting the object out of one photo: by what the collection knows, its own colours and edges.

A classifier of the whole collection leaves out what it has not met: a black wing tip, a white
bumper. Within one photo such pieces have the colours of the rest of the object, or no edge parts
them from it. Colours of object and background are estimated from what is taken to be which, and
what is which from the colours, as GrabCut (Rother et al. 2004) does; but softly, on cells instead
of pixels, and with densities instead of mixtures, so that nothing depends on chance.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.ndimage import gaussian_filter
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

from partdino.describe.description import ImageDescription
from partdino.method import DEFAULT_METHOD, Method
from partdino.parts.smoothing import spreading

_ITERATIONS = 3
_BINS_A_WIDTH = 1.5  # of the histogram of colours: finer ones change nothing
_REACH = 3.0  # widths, beyond which colours are not alike at all
_LEAST_DENSITY = 1e-4  # a colour that neither side has tells nothing
_CERTAIN = 0.999  # no cell is surer than this: its colour would have no other side


class ObjectCut:
    """The cut of one described photo.

    Parameters
    ----------
    description
        Of the photo; without `colours`, its edges alone tell.
    method
        For `appearance_weight`, `colour_width`, `cut_reach`, `strength` and `least_piece`.
    """

    def __init__(self, description: ImageDescription, method: Method = DEFAULT_METHOD) -> None:
        self._method = method
        self._areas = description.areas.astype(np.float64)
        self._ends = description.edges.astype(np.int64).T
        weak = np.exp(-description.strength.astype(np.float64) / method.strength)
        binding = method.cut_reach * description.border_length * weak
        self._spread = spreading(len(self._areas), self._ends, description.border_length, binding)
        self._colours = description.colours

    def membership(self, log_odds: np.ndarray) -> np.ndarray:
        """Tell how much each cell belongs to the object.

        Parameters
        ----------
        log_odds
            float (C,), of the collection's classifier: positive for object.

        Returns
        -------
        float64 (C,) in [0, 1]
        """
        known = self._method.appearance_weight * log_odds
        member = self._smooth(expit(known))
        if self._colours is not None:
            for _ in range(_ITERATIONS):
                member = self._smooth(expit(known + self._colour_log_odds(member)))
        return member

    def clean(self, inside: np.ndarray) -> np.ndarray:
        """Return bool (C,), an object without its smallest pieces and holes."""
        for kind in (True, False):
            least = self._method.least_piece * self._areas[inside].sum()
            inside = self._without_small(inside, kind, least)
        return inside

    def _smooth(self, values: np.ndarray) -> np.ndarray:
        return self._spread(values[:, None]).ravel().clip(0, 1)

    def _colour_log_odds(self, member: np.ndarray) -> np.ndarray:
        """Return float64 (C,), how much likelier each cell's colour is in the object."""
        member = member.clip(1 - _CERTAIN, _CERTAIN)
        densities = [self._density(weights) for weights in (member, 1 - member)]
        of_object, of_background = (density + _LEAST_DENSITY for density in densities)
        return np.log(of_object / of_background)

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
        return np.where((inside == kind) & small, not kind, inside)
