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

_Scores = dict[int, tuple[float, float]]

# On NABirds, another data set of birds with keypoints, under the same protocol as CUB.
_NABIRDS: dict[tuple[str, Literal["trained", "training-free"]], _Scores] = {
    ("DINO patches (NABirds)", "training-free"): {
        4: (26.50, 11.30),
        8: (39.45, 23.20),
        11: (39.23, 23.37),
    },
    ("PDiscoFormer (NABirds)", "trained"): {
        4: (48.24, 27.73),
        8: (60.39, 46.74),
        11: (72.04, 63.35),
    },
}

PUBLISHED = [
    *(
        Published("MPAE", "trained", benchmark, parts, {"nmi": nmi, "ari": ari})
        for (benchmark, parts), (nmi, ari) in _MPAE.items()
    ),
    *(
        Published(method, training, "cub", parts, {"nmi": nmi, "ari": ari})
        for (method, training), scores in _NABIRDS.items()
        for parts, (nmi, ari) in scores.items()
    ),
]


def published_beside(benchmark: str, parts: set[int | None]) -> list[Published]:
    """Return the published results on a benchmark with one of the given numbers of parts."""
    return [p for p in PUBLISHED if p.benchmark == benchmark and p.parts in parts]
