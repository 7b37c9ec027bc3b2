"""Birds in the layout of CUB-200-2011."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from partdino.evaluation.synth.bird import BIRD_KEYPOINTS
from partdino.evaluation.synth.output import (
    draw_frame,
    gapped_ids,
    image_rng,
    write_jpeg,
    write_lines,
)
from partdino.evaluation.synth.scene import Scene, render_animal

ENTRIES = (
    "bounding_boxes.txt",
    "classes.txt",
    "image_class_labels.txt",
    "images",
    "images.txt",
    "parts",
    "train_test_split.txt",
)

_CLASSES = {2: "Synthetic_Finch", 3: "Synthetic_Jay", 7: "Synthetic_Thrush", 8: "Synthetic_Warbler"}


def write_cub(out: Path, images: int, seed: int, size: int, done: Callable[[], None]) -> None:
    """Write the lists, the parts and ``images/<class>/<file>.jpg``; one of the images is grey."""
    lists: dict[str, list[str]] = {name: [] for name in ENTRIES if name.endswith(".txt")}
    lists["classes.txt"] = [f"{number} {_folder(number)}" for number in _CLASSES]
    places: list[str] = []
    for index, image_id in enumerate(gapped_ids(seed, images)):
        number = list(_CLASSES)[index * len(_CLASSES) // images]
        file = f"{_folder(number)}/{_CLASSES[number]}_{index:04d}_{image_id:04d}.jpg"
        rng = image_rng(seed, index)
        scene = render_animal(rng, *draw_frame(rng, size), kind="bird", species=number)
        grey = index == images // 2
        write_jpeg(out / "images" / file, scene.image[..., 1] if grey else scene.image)
        lists["images.txt"].append(f"{image_id} {file}")
        lists["image_class_labels.txt"].append(f"{image_id} {number}")
        lists["train_test_split.txt"].append(f"{image_id} {(index + 1) % 2}")
        box = " ".join(f"{value:.1f}" for value in scene.box())
        lists["bounding_boxes.txt"].append(f"{image_id} {box}")
        places += _part_lines(image_id, scene)
        done()
    for name, lines in lists.items():
        write_lines(out / name, lines)
    names = [f"{number} {name}" for number, name in enumerate(BIRD_KEYPOINTS, start=1)]
    write_lines(out / "parts" / "parts.txt", names)
    write_lines(out / "parts" / "part_locs.txt", places)


def _folder(number: int) -> str:
    return f"{number:03d}.{_CLASSES[number]}"


def _part_lines(image_id: int, scene: Scene) -> list[str]:
    lines = []
    for number, (x, y, visible) in enumerate(scene.keypoints, start=1):
        place = f"{x:.1f} {y:.1f} 1" if visible else "0.0 0.0 0"
        lines.append(f"{image_id} {number} {place}")
    return lines
