"""Soft assignment of patches to parts, and how undecided it is."""

from __future__ import annotations

import numpy as np
from scipy.special import entr, softmax


def soft_assignment(similarities: np.ndarray, temperature: float) -> np.ndarray:
    """Turn cosines into probabilities.

    Parameters
    ----------
    similarities
        float (..., K), the cosine between a patch and each part's centroid.
    temperature
        Above 0; a cosine that is lower by this much counts 1 / e.

    Returns
    -------
    float64 (..., K), the softmax of the cosines over the temperature; sums to 1.
    """
    return softmax(similarities.astype(np.float64) / temperature, axis=-1)


def normalised_entropy(probabilities: np.ndarray) -> np.ndarray:
    """Return the entropy of (..., K) probabilities over that of K equal ones, K >= 2.

    0: one part is certain; 1: all are equally likely.
    """
    return entr(probabilities).sum(axis=-1) / np.log(probabilities.shape[-1])


def confidence(probabilities: np.ndarray) -> np.ndarray:
    """Return the largest of (..., K) probabilities: 1 / K to 1."""
    return probabilities.max(axis=-1)
