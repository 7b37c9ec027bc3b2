"""A folder of animal photos beside a folder of their true label maps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from partdino.evaluation.synth.output import draw_frame, image_rng, write_jpeg
from partdino.evaluation.synth.quadruped import QUADRUPED_PARTS
from partdino.evaluation.synth.scene import render_animal
from partdino.files import write_csv
from partdino.runs.writers.labels import write_label_map

ENTRIES = ("images", "labels", "parts.csv")


def write_photos(out: Path, images: int, seed: int, size: int, done: Callable[[], None]) -> None:
    """Write ``images/*.jpg``, ``labels/*.png`` (0 = background) and the names of the labels."""
    write_csv(out / "parts.csv", ["label", "part"], enumerate(QUADRUPED_PARTS, start=1))
    for index in range(images):
        rng = image_rng(seed, index)
        scene = render_animal(rng, *draw_frame(rng, size))
        write_jpeg(out / "images" / f"animal_{index:04d}.jpg", scene.image)
        write_label_map(out / "labels" / f"animal_{index:04d}.png", scene.labels)
        done()
