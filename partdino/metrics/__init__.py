"""Part-discovery metrics: pure functions from sufficient statistics to a score.

Every statistic is an array that a shard can count on its own and that merges by addition
(`add_padded`), so memory grows with the number of parts, never with images or pixels.
"""

from partdino.metrics.boundary import (
    boundary_band,
    boundary_counts,
    boundary_f_score,
    boundary_tolerance,
    part_boundary,
)
from partdino.metrics.contingency import (
    add_padded,
    ari_from_contingency,
    contingency_table,
    nmi_from_contingency,
)
from partdino.metrics.foreground import (
    hull_counts,
    mask_counts,
    mask_iou,
    mask_precision_recall,
    outside_counts,
    worst_tenth,
)
from partdino.metrics.keypoints import nearest_index, part_centroids
from partdino.metrics.matching import match_parts, mean_iou_from_contingency, part_iou
from partdino.metrics.regression import (
    KeypointRegression,
    fit_keypoint_regression,
    regression_moments,
)

__all__ = [
    "KeypointRegression",
    "add_padded",
    "ari_from_contingency",
    "boundary_band",
    "boundary_counts",
    "boundary_f_score",
    "boundary_tolerance",
    "contingency_table",
    "fit_keypoint_regression",
    "hull_counts",
    "mask_counts",
    "mask_iou",
    "mask_precision_recall",
    "match_parts",
    "mean_iou_from_contingency",
    "nearest_index",
    "nmi_from_contingency",
    "outside_counts",
    "part_boundary",
    "part_centroids",
    "part_iou",
    "regression_moments",
    "worst_tenth",
]
