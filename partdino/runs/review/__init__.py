"""What a person says of a finished run: names, colours, merges, background, photos checked.

::

    labels/ --------------\\
    results.jsonl --> reviewed parts and photos --> the page, the report
    review.json ----------/

`review.json` is all that is written; `labels/` is never altered.
"""

from partdino.runs.review.apply import (
    ReviewedPart,
    drawn_colours,
    drawn_lookup,
    label_lookup,
    review_label_map,
    reviewed_parts,
)
from partdino.runs.review.state import (
    REVIEW_FILE,
    PartReview,
    Review,
    changed,
    read_review,
    write_review,
)

__all__ = [
    "REVIEW_FILE",
    "PartReview",
    "Review",
    "ReviewedPart",
    "changed",
    "drawn_colours",
    "drawn_lookup",
    "label_lookup",
    "read_review",
    "review_label_map",
    "reviewed_parts",
    "write_review",
]
