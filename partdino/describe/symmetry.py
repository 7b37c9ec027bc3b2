"""Telling the left of an image from the right, or not: the features of an image and its mirror.

What a network sees in an image is a sum of two parts: the even one, which is the same in the
mirrored image at the mirrored place, and the odd one, which changes its sign. The even part knows
what something is, the odd part on which side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from partdino.describe.features import Backbone


def mirrored_features(backbone: Backbone, images: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Compute the features of the mirrored images, and mirror them back.

    The grid tiles the image: squares of both grids cover the same pixels. (In networks ported
    from TensorFlow, whose maps are shifted by up to half a square, see `ConvFeatures`, what the two
    see there lies up to a square apart. The even part is then centred, the odd one also holds some
    of the change along a row.)

    Parameters
    ----------
    backbone, images
        See `Backbone.extract`.

    Returns
    -------
    ndarray
        float32 (B, gh, gw, dim).
    """
    return backbone.extract(np.ascontiguousarray(images[:, :, ::-1]))[:, :, ::-1]


def weigh_sides(
    features: NDArray[np.float32], mirrored: NDArray[np.float32], weight: float
) -> NDArray[np.float32]:
    """Add the even part of features and their weighted odd part.

    Parameters
    ----------
    features
        float32 (..., D).
    mirrored
        float32 (..., D), see `mirrored_features`.
    weight
        0: what is mirrored has the same features on both sides. 1: `features` as they are.
    """
    even, odd = (features + mirrored) / 2, (features - mirrored) / 2
    return even + np.float32(weight) * odd
