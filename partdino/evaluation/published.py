"""Published scores to print beside ours, where benchmark and number of parts are the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Published:
    """One published result.

    Attributes
    ----------
    method
        Its name.
    training
        What it needs.
    benchmark
        Name of our command.
    parts
        K.
    scores
        Percentages under our names.
    """

    method: str
    training: Literal["trained", "training-free"]
    benchmark: str
    parts: int
    scores: dict[str, float]


# From the authors' repository. Whether CelebA is aligned or in the wild there is not said.
_MPAE = {
    ("cub", 16): (79.00, 66.56),
    ("celeba", 16): (70.21, 60.33),
    ("partimagenet-seg", 50): (55.10, 73.52),
    ("partimagenet-ood", 50): (53.65, 74.22),
}

PUBLISHED = [
    Published("MPAE", "trained", benchmark, parts, {"nmi": nmi, "ari": ari})
    for (benchmark, parts), (nmi, ari) in _MPAE.items()
]


def published_beside(benchmark: str, parts: set[int | None]) -> list[Published]:
    """Return the published results on a benchmark with one of the given numbers of parts."""
    return [p for p in PUBLISHED if p.benchmark == benchmark and p.parts in parts]
