"""From a described image and a fitted model to the label map at the size of the photo."""

from __future__ import annotations

import numpy as np

from partdino.description import ImageDescription
from partdino.labelmap import resize_label_map
from partdino.model import PartModel
from partdino.result import PartSegmentation


def label_image(name: str, description: ImageDescription, model: PartModel) -> PartSegmentation:
    """Label one image.

    Parameters
    ----------
    name
        The image's name in the run.
    description, model
        Made with the same options and backbone.

    Returns
    -------
    PartSegmentation
        At the original size of the image.
    """
    labels = model.label(description)
    num_parts = model.options.parts
    label_map = resize_label_map(labels.part[description.regions], description.size)
    return PartSegmentation(
        name=name,
        label_map=label_map,
        num_parts=num_parts,
        confidence=_mean_by_part(labels.confidence, labels.part, description.areas, num_parts),
        typicality=_mean_by_part(
            labels.similarity.clip(0), labels.part, description.areas, num_parts
        ),
        foreground_found=bool(labels.part.any()),
    )


def _mean_by_part(
    values: np.ndarray, part: np.ndarray, areas: np.ndarray, num_parts: int
) -> np.ndarray:
    """Return float32 (K,), the area-weighted mean of (R,) values over each part; 0 where absent."""
    weight = np.bincount(part, areas, minlength=num_parts + 1)[1:]
    total = np.bincount(part, values * areas, minlength=num_parts + 1)[1:]
    return (total / np.where(weight > 0, weight, 1)).astype(np.float32)
