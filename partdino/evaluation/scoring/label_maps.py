"""Label maps made by any tool: finding, reading and resizing them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath

import numpy as np

from partdino.errors import InputError
from partdino.evaluation.datasets import MaskSample, Sample
from partdino.evaluation.datasets.frame import TURNED, is_turned, stored_frame
from partdino.files import recover_folder
from partdino.images.decode import TooLargeError, open_image
from partdino.images.read import orient

_MAX_PARTS = 255
_ASPECT_ERROR = 0.02  # of the logarithm of an aspect, of maps that were scaled and rounded
_CHANNEL_MODES = ("1", "P", "L", "I", "I;16", "I;16B", "I;16L")


class LabelFolder:
    """A folder of label maps that mirrors a data set's images: the predictor behind ``--labels``.

    The map of ``a/b/photo.jpg`` is ``photo.png``, ``photo.jpg.png``, ``photo.npy`` or
    ``photo.jpg.npy``, in a folder that repeats all, some or none of the folders above the photo.

    Parameters
    ----------
    folder
        Where the label maps are.
    samples
        The images that will be scored.
    partial
        Whether images without a label map are left out, rather than refused.

    Attributes
    ----------
    num_parts
        The highest label read so far.
    missing
        The names of the images that are left out.
    open
        The names of images read so far that EXIF turns, and whose label maps are about square: they
        may be of the photo as it is stored or as it is shown, and are taken as the annotations are.

    Raises
    ------
    InputError
        An image has no label map, or two images would read the same one.
    """

    def __init__(self, folder: Path, samples: Sequence[Sample], partial: bool = False) -> None:
        recover_folder(folder)
        self.num_parts = 0
        self._files: dict[Path, Path] = {}
        owners: dict[Path, Path] = {}
        self.missing: list[str] = []
        self.open: set[str] = set()
        for path, name in {sample.path: sample.name for sample in samples}.items():
            file = next((file for file in _candidates(folder, path, name) if file.is_file()), None)
            if file is None:
                self.missing.append(name)
            elif file in owners:
                raise InputError(
                    f"{file}: is the label map of both {owners[file]} and {path}; "
                    "repeat the folders of the images"
                )
            else:
                owners[file] = path
                self._files[path] = file
        if self.missing and not (partial and owners):
            first = PurePath(self.missing[0])
            raise InputError(
                f"{folder}: no label map for {len(self.missing)} of "
                f"{len(self.missing) + len(owners)} images, the first {first}; write it as "
                f"{first.with_suffix('.png')}, {first.name}.png or .npy, or score those that are "
                "there with --partial"
            )

    def __contains__(self, sample: Sample) -> bool:
        return sample.path in self._files

    def __call__(self, sample: Sample) -> tuple[np.ndarray, None]:
        """Return the label map with background of an image; there is none without background."""
        file = self._files[sample.path]
        labels = read_label_map(file)
        if _frame_is_open(labels, sample):
            self.open.add(sample.name)
        labels = _in_frame(labels, sample, file)
        self.num_parts = max(self.num_parts, int(labels.max()))
        return labels, None


def read_label_map(path: Path) -> np.ndarray:
    """Read a label map: an indexed or one-channel PNG, or a .npy.

    Returns
    -------
    uint8 (H, W)
        0 = background, 1..K = parts.

    Raises
    ------
    InputError
        The file is unreadable, or holds no (H, W) map of whole numbers from 0 to 255.
    """
    try:
        values = _read_npy(path) if path.suffix.lower() == ".npy" else _read_image(path)
    except (OSError, ValueError, EOFError, SyntaxError, TooLargeError) as error:
        raise InputError(f"{path}: not a readable label map, {error}; write it again") from error
    if values.ndim != 2 or values.size == 0 or values.dtype.kind not in "bui":
        raise InputError(
            f"{path}: {values.dtype} of shape {values.shape}; a label map is (H, W) whole numbers"
        )
    if values.min() < 0 or values.max() > _MAX_PARTS:
        raise InputError(
            f"{path}: labels {values.min()} to {values.max()}; "
            f"0 is background and 1 to {_MAX_PARTS} are parts"
        )
    return values.astype(np.uint8)


def _frame_is_open(labels: np.ndarray, sample: Sample) -> bool:
    return (
        isinstance(sample, MaskSample)
        and is_turned(labels.shape, sample.size) is None
        and stored_frame(sample.path)[1] in TURNED
    )


def _in_frame(labels: np.ndarray, sample: Sample, file: Path) -> np.ndarray:
    """Turn a label map to the frame of the annotations, if it is of the photo's other frame.

    Raises
    ------
    InputError
        It is of transposed aspect, and the photo has no EXIF orientation that could say why.
    """
    if not isinstance(sample, MaskSample) or not _is_transposed(labels.shape, sample.size):
        return labels
    _, orientation = stored_frame(sample.path)
    if orientation not in TURNED:
        raise InputError(
            f"{file}: {labels.shape[1]} x {labels.shape[0]} for annotations of {sample.size[1]} x "
            f"{sample.size[0]}: it lies on its side; write it as the photo is stored"
        )
    # 6 and 8 undo each other, 5 and 7 themselves.
    back = {6: 8, 8: 6}.get(orientation, orientation)
    return orient(labels, orientation if sample.upright else back)


def _is_transposed(size: tuple[int, ...], other: tuple[int, int]) -> bool | None:
    """As `is_turned`; what is of neither aspect was cut or padded, and not turned."""
    tolerance = max(_ASPECT_ERROR, 1 / size[0] + 1 / size[1])
    alike = abs(np.log(size[0] / size[1]) + np.log(other[0] / other[1])) < tolerance
    turned = is_turned(size, other)
    return turned and bool(alike)


def resize_nearest(labels: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Resize a label map without mixing labels, as OpenCV's ``INTER_NEAREST``.

    The published evaluations resize ground truth so (their nearest neighbour takes a pixel's upper
    left corner, not its centre). Predictions go the same way, so that both show the same place.

    Parameters
    ----------
    labels
        (h, w), any dtype.
    size
        (H, W).

    Returns
    -------
    (H, W), the dtype of ``labels``

    Examples
    --------
    >>> resize_nearest(np.array([[1, 2, 3, 4]]), (1, 2)).tolist()
    [[1, 3]]
    """
    rows, columns = (_source(old, new) for old, new in zip(labels.shape, size, strict=True))
    return labels[rows[:, None], columns]


def _source(old: int, new: int) -> np.ndarray:
    # Times the inverse of the inverse scale, not old / new: the last bit is OpenCV's, and shows.
    return np.minimum(np.floor(np.arange(new) * (1 / (new / old))).astype(np.intp), old - 1)


def _candidates(folder: Path, path: Path, name: str) -> Iterator[Path]:
    """Yield where a label map may be, from the most folders to none."""
    # Up to two folders above the image tree, as in DIR/images/test/photo.png.
    parts = path.absolute().parts
    depth = len(PurePath(name).parts) + 2
    for start in range(max(len(parts) - depth, 1), len(parts)):
        tail = Path(*parts[start:])
        for suffix in (".png", ".npy"):
            yield folder / tail.with_suffix(suffix)
            yield folder / tail.with_name(tail.name + suffix)


def _read_npy(path: Path) -> np.ndarray:
    return np.load(path, allow_pickle=False)


def _read_image(path: Path) -> np.ndarray:
    with open_image(path) as image:
        if image.mode not in _CHANNEL_MODES:
            raise ValueError(f"{image.mode} instead of one channel")
        return np.asarray(image)
