"""COCO-format part annotations: reading them, finding the images, drawing the ground truth."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from pycocotools import mask as coco_mask

from partdino.errors import DatasetError
from partdino.evaluation.datasets.base import MaskSample
from partdino.evaluation.datasets.frame import annotated_upright
from partdino.files import is_safe_name

_FAR = 16  # sides of an image: no annotation lies so far outside


@dataclass(frozen=True)
class CocoFile:
    """One annotation file.

    Attributes
    ----------
    path
        Where it is.
    categories
        Category id to name, in order of id: the parts 1..P of the ground truth.
    images
        The annotated images, in the file's order.
    annotations
        Image id to its annotations that count, each with ``category_id``, ``segmentation``,
        ``bbox`` and nothing else.
    """

    path: Path
    categories: Mapping[int, str]
    images: Sequence[CocoImage]
    annotations: Mapping[int, Sequence[dict[str, Any]]]


@dataclass(frozen=True)
class CocoImage:
    """An image entry; ``file_name`` has posix separators, ``size`` is height and width."""

    id: int
    file_name: str
    size: tuple[int, int]


def read_coco(path: Path, cure: str, to_the_letter: bool = True) -> CocoFile:
    """Read an annotation file.

    Annotations with area 0 are skipped; images without any other are left out.

    Parameters
    ----------
    path
        The json file.
    cure
        What to do about a bad file, for the error.
    to_the_letter
        Read the file as the protocol of PartImageNet does: annotations with ``iscrowd`` 1 are
        skipped, and a polygon of four numbers means the box. Else as annotation tools write it:
        they set ``iscrowd`` for every mask of a brush, and leave slivers of two points beside good
        polygons, so that both are a part as any other, and the box stands in only where an
        annotation has polygons, but none of three corners.

    Raises
    ------
    DatasetError
        The file is missing, is no json, or lacks what COCO requires.
    """
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise DatasetError(f"{path}: cannot be read as json; {cure}") from error
    try:
        categories = _categories(document["categories"])
        annotations = _annotations_by_image(document["annotations"], to_the_letter)
        images = [_image(entry) for entry in document["images"] if entry["id"] in annotations]
        drawn = {entry["category_id"] for entries in annotations.values() for entry in entries}
        unknown = [category for category in drawn if category not in categories]
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise DatasetError(f"{path}: not COCO annotations, {error!r}; {cure}") from error
    if unknown:
        first = min(map(str, unknown))
        raise DatasetError(f"{path}: category {first:.40} is not among its categories; {cure}")
    return CocoFile(path, categories, images, annotations)


def coco_samples(
    file: CocoFile, root: Path, split: str, to_the_letter: bool = True
) -> tuple[list[MaskSample], int]:
    """Return the samples of an annotation file whose images are there, and how many are not.

    Images lie below ``images/SPLIT``, ``SPLIT`` or ``images``, under their ``file_name``, flat, or
    in a folder named by what comes before the underscore, as ImageNet's.

    Parameters
    ----------
    file
        The annotations.
    root
        Root of the data set.
    split
        Name of the folder of images.
    to_the_letter
        Take the annotations to be of the stored pixels. Else the frame, stored or upright, is the
        one whose size is that of the annotations.
    """
    folders = [
        folder for name in (f"images/{split}", split, "images") if (folder := root / name).is_dir()
    ]
    order = {category: index for index, category in enumerate(file.categories, start=1)}
    samples = []
    for image in file.images:
        path = _find_image(folders, image.file_name)
        if path is not None:
            name = path.relative_to(root).as_posix().removeprefix("images/")
            entries = file.annotations[image.id]
            draw = partial(draw_ground_truth, entries, image.size, order, f"{file.path}: {name}")
            upright = not to_the_letter and annotated_upright(path, image.size)[0]
            samples.append(MaskSample(name, path, image.size, draw, upright))
    return samples, len(file.images) - len(samples)


def draw_ground_truth(
    annotations: Iterable[Mapping[str, Any]],
    size: tuple[int, int],
    order: Mapping[int, int],
    where: str = "annotations",
) -> np.ndarray:
    """Give every pixel the category whose summed mask is largest there.

    Parameters
    ----------
    annotations
        With ``category_id``, ``segmentation`` (polygons, or a run-length mask, compressed or not)
        and ``bbox``.
    size
        Height and width.
    order
        Category id to label, from 1.
    where
        What the annotations belong to, for the error.

    Returns
    -------
    uint8 (H, W), uint16 above 255 categories
        0 where no mask is; the lower label where two sums are equal.

    Raises
    ------
    DatasetError
        A segmentation cannot be drawn.
    """
    sums: dict[int, np.ndarray] = {}
    for annotation in annotations:
        label = order[annotation["category_id"]]
        mask = _mask(annotation, size, where)
        sums[label] = sums[label] + mask if label in sums else mask
    ground_truth = np.zeros(size, np.min_scalar_type(max(order.values(), default=0)))
    largest = np.zeros(size, np.uint16)
    for label in sorted(sums):
        more = sums[label] > largest
        ground_truth[more] = label
        largest[more] = sums[label][more]
    return ground_truth


def _categories(entries: Iterable[dict[str, Any]]) -> dict[int, str]:
    categories = {entry["id"]: entry["name"] for entry in entries}
    if not all(isinstance(i, int) and isinstance(n, str) for i, n in categories.items()):
        raise ValueError("a category without a whole number and a name")
    return dict(sorted(categories.items()))


def _annotations_by_image(
    entries: Iterable[dict[str, Any]], to_the_letter: bool
) -> dict[int, list[dict[str, Any]]]:
    by_image: dict[int, list[dict[str, Any]]] = {}
    for entry in entries:
        if entry.get("area") == 0 or (to_the_letter and entry.get("iscrowd") == 1):
            continue
        kept = {key: entry.get(key) for key in ("category_id", "segmentation", "bbox")}
        if not to_the_letter and isinstance(kept["segmentation"], list):
            kept["segmentation"] = _without_slivers(kept["segmentation"])
        by_image.setdefault(entry["image_id"], []).append(kept)
    return by_image


def _without_slivers(polygons: list[Any]) -> list[Any]:
    """Leave out polygons of fewer than three corners, unless there is nothing else."""
    corners = [p for p in polygons if not isinstance(p, list) or _encloses(p)]
    return corners or ([[0.0] * 4] if polygons else [])  # of which `_polygon` makes the box


def _encloses(numbers: list[Any]) -> bool:
    """Tell whether a polygon has an area; what is none at all is refused when it is drawn."""
    if len(numbers) < 6:
        return False
    try:
        x, y = np.asarray(numbers, float).reshape(-1, 2).T
    except (ValueError, TypeError, OverflowError):
        return True
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return True
    return bool(x @ np.roll(y, 1) != y @ np.roll(x, 1))


def _image(entry: dict[str, Any]) -> CocoImage:
    file_name = entry["file_name"].replace("\\", "/")
    height, width = int(entry["height"]), int(entry["width"])
    if height < 1 or width < 1:
        raise ValueError(f"{file_name} of {width} x {height} pixels")
    return CocoImage(entry["id"], file_name, (height, width))


def is_open(sample: MaskSample) -> bool:
    """Tell whether the size of a sample leaves open which way up it is annotated."""
    return annotated_upright(sample.path, sample.size)[1]


def _find_image(folders: Sequence[Path], file_name: str) -> Path | None:
    base = PurePosixPath(file_name).name
    names = (file_name, base, f"{base.rpartition('_')[0]}/{base}")
    candidates = (folder / name for folder in folders for name in names if is_safe_name(name))
    return next(filter(_is_file, candidates), None)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # such as a name that is too long
        return False


def _mask(annotation: Mapping[str, Any], size: tuple[int, int], where: str) -> np.ndarray:
    """Draw one annotation as uint16 (H, W), 0 or 1; its polygons are united."""
    segmentation = annotation["segmentation"]
    try:
        if isinstance(segmentation, list):
            polygons = [_polygon(numbers, annotation["bbox"]) for numbers in segmentation]
            for numbers in polygons:
                _check_polygon(numbers, size)
            # Fewer than three corners enclose nothing, and pycocotools refuses them.
            drawable = [numbers for numbers in polygons if len(numbers) >= 6]
            if not drawable:
                return np.zeros(size, np.uint16)
            runs = coco_mask.merge(coco_mask.frPyObjects(drawable, *size))
        elif isinstance(segmentation["counts"], list):
            runs = coco_mask.frPyObjects(segmentation, *size)
        else:
            runs = segmentation
        if tuple(runs["size"]) != size:
            raise DatasetError(f"{where}: a mask of {runs['size']} for an image of {size}")
        _check_runs(runs["counts"], size)
        mask = coco_mask.decode(runs)
    except DatasetError:
        raise
    except Exception as error:  # pycocotools raises bare Exception, TypeError, ValueError, ...
        raise DatasetError(f"{where}: a segmentation is neither polygons nor a mask") from error
    if mask.shape != size:
        raise DatasetError(f"{where}: a mask of {mask.shape} for an image of {size}")
    return mask.astype(np.uint16)


def _check_polygon(numbers: Sequence[float], size: tuple[int, int]) -> None:
    """Raise `ValueError` for what pycocotools would crash on, or take as something else."""
    most = _FAR * max(size)
    if len(numbers) % 2 or not all(-most <= float(number) <= most for number in numbers):
        raise ValueError("a polygon of an odd count, or of numbers far outside the image")


def _check_runs(counts: str | bytes, size: tuple[int, int]) -> None:
    """Raise `ValueError` where the lengths of a compressed mask do not add up to the image.

    pycocotools would leave the rest of the mask as the memory happens to be. The lengths are in
    groups of 5 bits, and from the third on less the one before the last (COCO's own format).
    """
    lengths: list[int] = []
    value = shift = 0
    for byte in counts.encode() if isinstance(counts, str) else counts:
        bits = byte - 48
        value |= (bits & 0x1F) << shift
        shift += 5
        if not bits & 0x20:
            if bits & 0x10:
                value -= 1 << shift
            lengths.append(value + (lengths[-2] if len(lengths) > 2 else 0))
            value = shift = 0
    if shift or min(lengths, default=0) < 0 or sum(lengths) != size[0] * size[1]:
        raise ValueError("the lengths of a mask do not add up to its image")


def _polygon(numbers: Sequence[float], box: Sequence[float]) -> Sequence[float]:
    if len(numbers) != 4:
        return numbers
    x, y, width, height = box
    return [x, y, x, y + height, x + width, y + height, x + width, y]
