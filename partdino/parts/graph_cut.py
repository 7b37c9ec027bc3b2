"""The cheapest way to cut a graph in two, given what each node costs on either side."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

_PRECISION = 2**29  # what all edges weigh together, so that no flow leaves int32


def cut_graph(log_odds: np.ndarray, ends: np.ndarray, binding: np.ndarray) -> np.ndarray:
    """Choose a side for every node, exactly (Boykov & Jolly 2001).

    Of all ways to choose, the one for which the log-odds of the nodes inside, less the binding of
    the edges with one end inside, sum up highest; of several, the one with the fewest inside.

    Parameters
    ----------
    log_odds
        float (C,), positive for inside; infinite for what is certain.
    ends
        int (2, E), the edges.
    binding
        float (E,), at least 0: what it costs to part their ends.

    Returns
    -------
    bool (C,)

    Examples
    --------
    >>> chain = np.array([[0, 1], [1, 2]])
    >>> cut_graph(np.array([3.0, -1.0, -3.0]), chain, np.array([2.0, 0.5])).tolist()
    [True, True, False]
    """
    count, total = len(log_odds), binding.sum()
    if total <= 0:
        return log_odds > 0
    scale = _PRECISION / total
    capacity = np.rint(binding * scale).astype(np.int32)
    # What is surer than all its edges together goes its own way, however sure it is.
    most = np.bincount(ends.ravel(), np.tile(capacity, 2), count) + 1
    own = np.rint(np.clip(log_odds * scale, -most, most)).astype(np.int32)
    source, sink = count, count + 1
    inside, outside = np.flatnonzero(own > 0), np.flatnonzero(own < 0)
    start = np.concatenate([*ends, np.full_like(inside, source), outside])
    end = np.concatenate([*ends[::-1], inside, np.full_like(outside, sink)])
    values = np.concatenate([capacity, capacity, own[inside], -own[outside]])
    graph = csr_matrix((values, (start, end)), shape=(count + 2, count + 2), dtype=np.int32)
    graph.eliminate_zeros()
    left = graph - maximum_flow(graph, source, sink).flow
    left.eliminate_zeros()  # what is full leads nowhere
    reached = breadth_first_order(left, source, return_predecessors=False)
    return np.isin(np.arange(count), reached)
