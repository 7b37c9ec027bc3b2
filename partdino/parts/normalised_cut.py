"""A normalised cut of the graph of all directions of a codebook (Shi & Malik, 2000)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partdino.describe.vectors import normalise
from partdino.method import DEFAULT_METHOD, Method
from partdino.parts.kmeans import spherical_kmeans

_RESTARTS = 3


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The graph of a codebook, ready to be cut into any number of parts.

    Attributes
    ----------
    vectors
        float64 (M, M), the eigenvectors of the normalised graph, the smoothest first.
    mass
        float64 (M,), above 0: how much each direction counts.
    """

    vectors: np.ndarray
    mass: np.ndarray

    @classmethod
    def of(
        cls, directions: np.ndarray, mass: np.ndarray, method: Method = DEFAULT_METHOD
    ) -> Spectrum:
        """Make the graph and find its eigenvectors.

        Two directions are alike by ``exp((cosine - 1) / affinity)``, times the root of both masses.

        Parameters
        ----------
        directions
            float64 (M, P), unit vectors.
        mass
            float64 (M,), above 0.
        method
            For `affinity`.
        """
        alike = np.exp((directions @ directions.T - 1) / method.affinity)
        alike *= np.sqrt(np.outer(mass, mass))
        degree = np.sqrt(alike.sum(axis=0))
        _, vectors = np.linalg.eigh(alike / np.outer(degree, degree))
        return cls(vectors[:, ::-1], mass)

    def cut(self, num_parts: int, seed: int) -> np.ndarray:
        """Divide the graph into K parts that are alike within and unlike between.

        The directions' coordinates in the first K eigenvectors are clustered.

        Returns
        -------
        int64 (M,), numbered from 0; one part each where there are K directions or fewer.
        """
        if len(self.mass) <= num_parts:
            return np.arange(len(self.mass))
        coordinates = normalise(self.vectors[:, :num_parts])
        return spherical_kmeans(coordinates, self.mass, num_parts, seed, _RESTARTS)[1]
