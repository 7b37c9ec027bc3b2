"""A review applied to what a run found: pure functions over label maps and parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partdino.runs.review.state import PartReview, Review
from partdino.runs.writers.palette import part_colours

_LABELS = 256  # values of a label map
_NOTHING = PartReview()


@dataclass(frozen=True)
class ReviewedPart:
    """A part as the review has it.

    Attributes
    ----------
    part
        Its number, 1..K: what its pixels have in a reviewed label map.
    members
        The parts of the run that it is made of, itself first.
    name
        What it is called.
    colour
        ``#rrggbb``.
    hidden
        It is not drawn.
    background
        It is no part: its pixels are 0 in a reviewed label map.
    """

    part: int
    members: tuple[int, ...]
    name: str
    colour: str
    hidden: bool
    background: bool


def reviewed_parts(review: Review, num_parts: int) -> list[ReviewedPart]:
    """Return what became of the parts of a run, `num_parts` = K, in their order, each once.

    Those that were cut off others come after K.

    Examples
    --------
    >>> from partdino.runs.review.state import PartReview, Review
    >>> review = Review("", parts={1: PartReview(name="wing"), 3: PartReview(merged_into=1)})
    >>> [(part.name, part.members) for part in reviewed_parts(review, 3)]
    [('wing', (1, 3)), ('part 2', (2,))]
    """
    members: dict[int, list[int]] = {}
    for part in review.numbers(num_parts):
        root = review.root(part)
        group = members.setdefault(root, [root])
        if part != root:
            group.append(part)
    return [_part(review, root, tuple(members[root])) for root in sorted(members)]


def label_lookup(review: Review, num_parts: int) -> np.ndarray:
    """Return what each label of a photo becomes, as `partdino.runs.review.Division` divides it.

    Returns
    -------
    np.ndarray
        uint8 (256,): of a part, the number of the part that it is merged into, 0 where that is
        background. Other values stay 0.
    """
    lookup = np.zeros(_LABELS, np.uint8)
    for part in reviewed_parts(review, num_parts):
        lookup[list(part.members)] = 0 if part.background else part.part
    return lookup


def drawn_lookup(review: Review, num_parts: int) -> np.ndarray:
    """As `label_lookup`, but hidden parts are 0, too."""
    lookup = label_lookup(review, num_parts)
    for part in reviewed_parts(review, num_parts):
        if part.hidden:
            lookup[list(part.members)] = 0
    return lookup


def drawn_colours(review: Review, num_parts: int) -> np.ndarray:
    """Return the colours of a reviewed label map, uint8 (256, 3) RGB; row 0 is black."""
    colours = part_colours().copy()
    for part in reviewed_parts(review, num_parts):
        colours[part.part] = list(bytes.fromhex(part.colour[1:]))
    return colours


def review_label_map(label_map: np.ndarray, review: Review, num_parts: int) -> np.ndarray:
    """Return a label map with parts merged and called background.

    Parameters
    ----------
    label_map
        uint8 (H, W): 0 = background, else parts, as `partdino.runs.review.Division` has them; as
        the run left them where nothing was split or mended. It is not altered.
    review
        What is said of the parts.
    num_parts
        K.
    """
    return label_lookup(review, num_parts)[label_map]


def _part(review: Review, root: int, members: tuple[int, ...]) -> ReviewedPart:
    said = review.parts.get(root, _NOTHING)
    return ReviewedPart(
        part=root,
        members=members,
        name=said.name or f"part {root}",
        colour=said.colour or "#" + part_colours()[root].tobytes().hex(),
        hidden=said.hidden,
        background=said.background,
    )
