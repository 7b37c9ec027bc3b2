"""How the images of a benchmark go into the method: as the protocols say, or as a photo does."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from partdino.describe.source import Source
from partdino.evaluation.datasets import MaskSample, Sample
from partdino.images import LoadedImage, read_image


def as_source(sample: Sample, masked: bool) -> Source:
    """Return a sample's image for `describe_images`.

    Parameters
    ----------
    sample
        From a data set.
    masked
        Take the labelled pixels as its object mask.
    """
    mask = None
    if masked:
        assert isinstance(sample, MaskSample)
        mask = sample.draw
    if isinstance(sample, MaskSample) and not sample.squeezed:
        return Source(sample.name, sample.path, mask)
    upright = isinstance(sample, MaskSample) and sample.upright
    return Source(sample.name, partial(read_square, sample.path, upright=upright), mask)


def read_square(path: Path, max_pixels: int, upright: bool = False) -> LoadedImage:
    """Read an image to be taken as a square: resized, not cropped, as the protocols say.

    Annotations refer to the pixels as stored, whatever their EXIF orientation, if not `upright`.
    """
    stored = read_image(path, max_pixels, upright=upright)
    return LoadedImage(stored.pixels, (max(stored.size),) * 2)
