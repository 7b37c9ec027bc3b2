"""Faces in the layout of CelebA, in the wild and aligned, with the lists of MAFL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import cv2
import numpy as np

from partdino.evaluation.synth.output import (
    draw_frame,
    gapped_ids,
    image_rng,
    write_jpeg,
    write_lines,
)
from partdino.evaluation.synth.scene import render_face

ENTRIES = (
    "MAFL_testing.txt",
    "MAFL_training.txt",
    "img_align_celeba",
    "img_celeba",
    "list_bbox_celeba.txt",
    "list_eval_partition.txt",
    "list_landmarks_align_celeba.txt",
    "list_landmarks_celeba.txt",
)

_LANDMARKS = (
    "lefteye_x lefteye_y righteye_x righteye_y nose_x nose_y "
    "leftmouth_x leftmouth_y rightmouth_x rightmouth_y"
)
# Where the landmarks of an aligned photo of 178 x 218 pixels are, on average.
_ALIGNED_SIZE = (178, 218)
_ALIGNED = np.array([(69, 111), (109, 111), (89, 136), (72, 152), (106, 152)], dtype=float)
# MAFL's list and CelebA's partition (0 train, 1 validation, 2 test) go round in eights. As in
# the real lists, some of MAFL's test images are in CelebA's training partition.
_MAFL = (None, None, "training", "testing", None, None, "training", "testing")
_PARTITION = (0, 0, 0, 0, 0, 1, 0, 2)


def write_celeba(out: Path, images: int, seed: int, size: int, done: Callable[[], None]) -> None:
    """Write every face twice, in the wild and aligned, and all the lists."""
    files = [f"{number:06d}.jpg" for number in gapped_ids(seed, images)]
    wild, aligned, boxes = [], [], []
    for index, file in enumerate(files):
        rng = image_rng(seed, index)
        scene = render_face(rng, *draw_frame(rng, size))
        landmarks = scene.keypoints[:, :2]
        matrix = similarity(landmarks, _ALIGNED)
        write_jpeg(out / "img_celeba" / file, scene.image)
        write_jpeg(out / "img_align_celeba" / file, warp_to_aligned(scene.image, matrix))
        wild.append(_line(file, landmarks.ravel()))
        aligned.append(_line(file, (landmarks @ matrix[:, :2].T + matrix[:, 2]).ravel()))
        boxes.append(_line(file, scene.box(("skin", "hair"))))
        done()
    count = str(images)
    write_lines(out / "list_landmarks_celeba.txt", [count, _LANDMARKS, *wild])
    write_lines(out / "list_landmarks_align_celeba.txt", [count, _LANDMARKS, *aligned])
    write_lines(out / "list_bbox_celeba.txt", [count, "image_id x_1 y_1 width height", *boxes])
    _write_splits(out, files)


def similarity(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the 2 x 3 matrix (turn, scale, shift) that fits points to points by least squares."""
    x, y = source.T
    one, zero = np.ones_like(x), np.zeros_like(x)
    rows = np.concatenate([np.stack([x, -y, one, zero], 1), np.stack([y, x, zero, one], 1)])
    a, b, shift_x, shift_y = np.linalg.lstsq(rows, target.T.ravel(), rcond=None)[0]
    return np.array([[a, -b, shift_x], [b, a, shift_y]])


def warp_to_aligned(image: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Return the image (H, W, 3) seen through ``matrix``, uint8 (218, 178, 3)."""
    # cv2 counts from the centre of the first pixel, we from its corner.
    shifted = matrix.copy()
    shifted[:, 2] += matrix[:, :2] @ (0.5, 0.5) - 0.5
    return cv2.warpAffine(
        image, shifted, _ALIGNED_SIZE, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT_101
    )


def _write_splits(out: Path, files: Sequence[str]) -> None:
    cycle = len(_PARTITION)
    partition = [f"{file} {_PARTITION[i % cycle]}" for i, file in enumerate(files)]
    write_lines(out / "list_eval_partition.txt", partition)
    for part in ("training", "testing"):
        chosen = [file for i, file in enumerate(files) if _MAFL[i % cycle] == part]
        write_lines(out / f"MAFL_{part}.txt", chosen)


def _line(file: str, values: Sequence[float] | np.ndarray) -> str:
    return " ".join([file, *(str(round(value)) for value in values)])
