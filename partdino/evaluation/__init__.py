"""From a data set and label maps to scores: one path for our method and for anyone's label maps."""

from partdino.evaluation.keypoint_scorer import KeypointFitter, KeypointScorer
from partdino.evaluation.label_maps import LabelFolder, read_label_map, resize_nearest
from partdino.evaluation.pixel_scorer import PixelScorer
from partdino.evaluation.scoring import Predictor, score_dataset, score_keypoints, score_pixels

__all__ = [
    "KeypointFitter",
    "KeypointScorer",
    "LabelFolder",
    "PixelScorer",
    "Predictor",
    "read_label_map",
    "resize_nearest",
    "score_dataset",
    "score_keypoints",
    "score_pixels",
]
