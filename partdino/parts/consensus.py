"""What many divisions of the same points agree on."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from partdino.describe.vectors import normalise
from partdino.parts.kmeans import spherical_kmeans


def consensus(
    labels: np.ndarray, weights: np.ndarray, num_clusters: int, seed: int = 0
) -> np.ndarray:
    """Divide points into K clusters as many divisions of them do on the whole.

    Points and the clusters of all divisions are the two sides of a graph, in which a point is bound
    to each cluster that it is in. Points are clustered by their coordinates in its first K
    eigenvectors: the hybrid bipartite graph of Fern & Brodley (2004).

    Parameters
    ----------
    labels
        int (N, B): of the points in each of B divisions, from 0.
    weights
        float64 (N,), above 0: how much each point counts.
    num_clusters
        K.
    seed
        Seed of the clustering.

    Returns
    -------
    int64 (N,), from 0; there are fewer clusters where there are fewer distinct points.

    Examples
    --------
    Two of three divisions part the second point from the third:

    >>> labels = np.array([[0, 0, 1], [0, 0, 1], [1, 1, 1], [1, 1, 0]])
    >>> found = consensus(labels, np.ones(4), 2)
    >>> (found == found[0]).tolist()
    [True, True, False, False]
    """
    starts = np.append(0, np.cumsum(labels.max(axis=0) + 1))
    columns = labels + starts[:-1]
    ends = np.arange(0, columns.size + 1, columns.shape[1])
    members = csr_matrix((np.ones(columns.size), columns.ravel(), ends), (len(labels), starts[-1]))
    shared = (members.T @ members.multiply(weights[:, None]).tocsr()).toarray()
    size = np.sqrt(np.maximum(shared.diagonal(), np.finfo(float).tiny))
    _, vectors = np.linalg.eigh(shared / np.outer(size, size))
    coordinates = members @ (vectors[:, ::-1][:, :num_clusters] / size[:, None])
    return spherical_kmeans(normalise(coordinates), weights, num_clusters, seed)[1]
