"""What a person says of a finished run: names, colours, merges, background, photos checked.

::

    labels/, review/ ---> Division (splits, mends) --> label_lookup (merges) --> page, report,
    review.json ------/                                                         export, measure

`review.json` is all that is written; `labels/` is never altered.
"""

from partdino.output_marks import REVIEW_FILE
from partdino.runs.review.apply import (
    ReviewedPart,
    drawn_colours,
    drawn_lookup,
    label_lookup,
    review_label_map,
    reviewed_parts,
)
from partdino.runs.review.division import Clusters, Division, read_clusters
from partdino.runs.review.mend import Mend, runs_of
from partdino.runs.review.split import Split, cut_in_two
from partdino.runs.review.state import (
    PartReview,
    Review,
    changed,
    read_review,
    write_review,
)

__all__ = [
    "REVIEW_FILE",
    "Clusters",
    "Division",
    "Mend",
    "PartReview",
    "Review",
    "ReviewedPart",
    "Split",
    "changed",
    "cut_in_two",
    "drawn_colours",
    "drawn_lookup",
    "label_lookup",
    "read_clusters",
    "read_review",
    "review_label_map",
    "reviewed_parts",
    "runs_of",
    "write_review",
]
