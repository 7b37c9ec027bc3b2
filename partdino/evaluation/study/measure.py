"""From an image to its foreground patches, what passes through them and how decided they are."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from partdino.evaluation.methods.labellers import PatchLabeller
from partdino.evaluation.study.assignment import confidence, normalised_entropy, soft_assignment
from partdino.evaluation.study.images import StudyImage
from partdino.evaluation.study.patches import Patches
from partdino.evaluation.study.ridge_cache import RidgeCache
from partdino.evaluation.study.straddling import foreground_patches, true_groups
from partdino.parts.model import PartModel
from partdino.runs.store import DescriptionStore


@dataclass(frozen=True, eq=False)
class Measure:
    """What is measured of every image of a study.

    Attributes
    ----------
    store, ridges
        Where the image's description is, and the ridges of its boundary map.
    model
        Tells what is object.
    parts
        Clusters of the patch features of all images.
    threshold
        Strength from which a ridge is a boundary.
    temperatures
        Of the soft assignment.
    """

    store: DescriptionStore
    ridges: RidgeCache
    model: PartModel
    parts: PatchLabeller
    threshold: float
    temperatures: tuple[float, ...]

    def __call__(self, image: StudyImage) -> Patches:
        """Return the foreground patches of an image, the image numbered 0."""
        description = self.store.read(image.key)
        patches = description.dense
        grid = patches.shape[:2]
        foreground = self.model.foreground_cells(description)[description.cells]
        ridges = self.ridges.read(image.key, image.source, foreground.shape)
        places = foreground_patches(foreground, ridges, grid)
        cosines = self.parts.similarities(patches[places.row, places.column])
        assigned = [soft_assignment(cosines, temperature) for temperature in self.temperatures]
        true_group = np.full(len(places.row), -1)
        if image.truth is not None:
            # As masks are: where they are the foreground, both have one silhouette.
            truth = cv2.resize(
                image.truth(), foreground.shape[::-1], interpolation=cv2.INTER_NEAREST
            )
            true_group = true_groups(truth.astype(np.int32), places, grid)
        return Patches(
            image=np.zeros(len(places.row), int),
            row=places.row,
            column=places.column,
            group=places.groups(self.threshold),
            true_group=true_group,
            strength=places.strength,
            part=cosines.argmax(axis=1) + 1,
            entropy=np.stack([normalised_entropy(each) for each in assigned], axis=1),
            confidence=np.stack([confidence(each) for each in assigned], axis=1),
        )
