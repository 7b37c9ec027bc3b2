"""Cutting a part in two: its small clusters are divided, and all photos follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from partdino.parts.kmeans import spherical_kmeans

_SEED = 0


@dataclass(frozen=True)
class Split:
    """A part that was cut off another one.

    Attributes
    ----------
    of
        The part that it was cut off.
    clusters
        What it has: the model's small clusters with these places in `centroids`, ascending.
    """

    of: int
    clusters: tuple[int, ...]

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Split:
        """Make an entry of JSON; raises `ValueError`, `KeyError` and `TypeError`."""
        if unknown := set(said) - {"of", "clusters"}:
            raise ValueError(f"a part that was cut off has no {min(unknown)}")
        split = cls(said["of"], tuple(said["clusters"]))
        if any(type(number) is not int for number in (split.of, *split.clusters)):
            raise ValueError("clusters are whole numbers")
        if not split.clusters or list(split.clusters) != sorted({*split.clusters}):
            raise ValueError("a part that was cut off has clusters, in order, each once")
        return split

    def document(self) -> dict[str, Any]:
        """Return what `review.json` holds of it."""
        return {"of": self.of, "clusters": list(self.clusters)}


def cut_in_two(clusters: np.ndarray, centroids: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Divide the small clusters of a part into two that are alike within.

    Parameters
    ----------
    clusters
        int (n,): the places in `centroids` of the part's clusters, ascending.
    centroids
        float (M, P), unit vectors.
    weights
        float (M,): how many pixels of all photos are in each.

    Returns
    -------
    np.ndarray
        int: the clusters of the lighter half, ascending. The same for the same arguments.

    Raises
    ------
    ValueError
        Fewer than two of the clusters are in any photo, or they are all alike.
    """
    there = clusters[weights[clusters] > 0]
    if len(there) < 2:
        raise ValueError("it has one small cluster only, which cannot be cut")
    points, mass = centroids[there].astype(np.float64), weights[there].astype(np.float64)
    directions, _ = spherical_kmeans(points, mass, 2, _SEED)
    if len(directions) < 2:
        raise ValueError("its small clusters are all alike")
    # Those that are in no photo go along with what they are like: new photos may have them.
    halves = (centroids[clusters].astype(np.float64) @ directions.T).argmax(axis=1)
    masses = np.bincount(halves, weights[clusters], minlength=2)
    return clusters[halves == masses.argmin()]
