"""A normalised cut of the graph of all directions of a codebook (Shi & Malik, 2000)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from partdino.describe.vectors import normalise
from partdino.method import DEFAULT_METHOD, Method
from partdino.parts.kmeans_of_many import cluster_each

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
        return cut_each([self], num_parts, [seed])[0]


def cut_each(spectra: Sequence[Spectrum], num_parts: int, seeds: Sequence[int]) -> list[np.ndarray]:
    """Cut each of many graphs, with a seed of its own; see `Spectrum.cut`."""
    cuts = [np.arange(len(spectrum.mass)) for spectrum in spectra]
    for size in {len(cut) for cut in cuts if len(cut) > num_parts}:
        alike = [place for place, cut in enumerate(cuts) if len(cut) == size]
        vectors = np.stack([spectra[place].vectors[:, :num_parts] for place in alike])
        mass = np.stack([spectra[place].mass for place in alike])
        own = [seeds[place] for place in alike]
        parts = cluster_each(normalise(vectors), mass, num_parts, own, _RESTARTS)
        for place, each in zip(alike, parts, strict=True):
            cuts[place] = each
    return cuts
