"""Smoothing of features over the graph of cells: as far as no boundary stands in the way.

Averaging inside regions cut along the boundaries decides for each boundary whether it counts. Here
it counts by its strength: features spread from cell to cell along the weak borders and hardly
across the strong ones. Inside an even-coloured body they stay near what each cell shows, since
every cell is pulled back to its own feature; behind strong edges they become one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csc_matrix, diags
from scipy.sparse.linalg import splu

from partdino.method import DEFAULT_METHOD, Method

if TYPE_CHECKING:
    from partdino.describe.description import ImageDescription


def smooth_cells(
    description: ImageDescription, foreground: np.ndarray, method: Method = DEFAULT_METHOD
) -> np.ndarray:
    """Smooth the features of a described image, given which cells are object; see `smooth`."""
    graph = description.edges, description.border_length, description.strength
    return smooth(description.features, *graph, foreground, method)


def smooth(
    features: np.ndarray,
    edges: np.ndarray,
    border_length: np.ndarray,
    strength: np.ndarray,
    foreground: np.ndarray,
    method: Method = DEFAULT_METHOD,
) -> np.ndarray:
    """Smooth the features of one image's cells over their graph.

    The result minimises, over all cells i and neighbours i, j::

        sum_i b_i |s_i - f_i|^2 + reach sum_ij w_ij |s_i - s_j|^2,
        w_ij = l_ij exp(-strength_ij / strength)

    where l_ij is the length of the common border and b_i that of all borders of i: the random-walk
    regularisation of Zhou et al. (2004), weighted by boundaries as the random walker of Grady
    (2006). Nothing spreads between object and background.

    Parameters
    ----------
    features
        float (C, D).
    edges, border_length, strength
        The graph, see `partdino.describe.regions.region_adjacency`.
    foreground
        bool (C,), which cells are object.
    method
        For `reach` and `strength`.

    Returns
    -------
    float32 (C, D).

    Examples
    --------
    Three cells in a row, with a strong boundary between the second and the third:

    >>> features = np.array([[0.0], [1.0], [5.0]])
    >>> edges, length = np.array([[0, 1], [1, 2]]), np.array([10, 10])
    >>> inside = np.ones(3, bool)
    >>> smooth(features, edges, length, np.array([0.0, 9.0]), inside).ravel().round(1)
    array([0.7, 0.7, 5. ], dtype=float32)
    """
    ends = edges.astype(np.int64).T
    binding = method.reach * border_length * np.exp(-strength.astype(np.float64) / method.strength)
    binding *= foreground[ends[0]] == foreground[ends[1]]
    spread = spreading(len(features), ends, border_length, binding)
    return spread(features.astype(np.float64)).astype(np.float32)


def spreading(
    count: int, ends: np.ndarray, border_length: np.ndarray, binding: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """Prepare what `smooth` does to values of one image's cells, for several sets of values.

    Parameters
    ----------
    count
        C, of the cells.
    ends
        int64 (2, E), the edges of the graph.
    border_length, binding
        float (E,): l_ij, and reach w_ij.

    Returns
    -------
    Callable
        From float64 (C, D) values to smooth ones.
    """
    borders = np.bincount(ends.ravel(), np.tile(border_length, 2), count)
    own = np.where(borders > 0, borders, 1)  # one cell alone has no border, and keeps its values
    rows, columns = np.concatenate([ends, ends[::-1]], axis=1)
    graph = csc_matrix((np.tile(binding, 2), (rows, columns)), shape=(count, count))
    system = diags(own + graph.sum(axis=0).A1, format="csc") - graph
    solver = splu(system, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    return lambda values: solver.solve(own[:, None] * values)
