"""Animals in COCO format whose categories are parts, named and numbered as in PartImageNet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from pycocotools import mask as coco_mask

from partdino.evaluation.synth.bird import BIRD_PARTS
from partdino.evaluation.synth.output import (
    draw_frame,
    gapped_ids,
    image_rng,
    write_jpeg,
    write_lines,
)
from partdino.evaluation.synth.quadruped import QUADRUPED_PARTS
from partdino.evaluation.synth.scene import Scene, render_animal
from partdino.files import write_json

ENTRIES = ("annotations", "images", "train_test_split.txt")

# Made-up ids in the form of ImageNet's; the position is the label and seeds the species.
_CLASSES = (
    ("n90000001", "quadruped"),
    ("n90000002", "bird"),
    ("n90000003", "quadruped"),
    ("n90000004", "bird"),
)
_PARTS = {"quadruped": QUADRUPED_PARTS, "bird": BIRD_PARTS}
_CATEGORIES = [(kind, part) for kind, parts in _PARTS.items() for part in parts]


def write_coco(out: Path, images: int, seed: int, size: int, done: Callable[[], None]) -> None:
    """Write train and test images with an annotation file each, masks as run lengths.

    ``train_test_split.txt`` cuts the train file in two, in the form of PartImageNet-OOD's list.
    """
    documents = {"train": _empty_document(), "test": _empty_document()}
    cut: list[str] = []
    for index, image_id in enumerate(gapped_ids(seed, images)):
        split = "train" if index < (images + 1) // 2 else "test"
        label = index % len(_CLASSES)
        class_name, kind = _CLASSES[label]
        file = f"{class_name}_{image_id}.JPEG"
        rng = image_rng(seed, index)
        scene = render_animal(rng, *draw_frame(rng, size), kind=kind, species=label)
        write_jpeg(out / "images" / split / file, scene.image)
        _annotate(documents[split], image_id, file, kind, scene)
        if split == "train":
            cut.append(f"{image_id}\t{index % 3 // 2}\t{label}\t{class_name}\t{file}")
        done()
    for split, document in documents.items():
        write_json(out / "annotations" / f"{split}.json", document)
    write_lines(out / "train_test_split.txt", cut)


def _empty_document() -> dict[str, Any]:
    categories = [
        {"id": number, "name": f"{kind.title()} {part.title()}", "supercategory": kind.title()}
        for number, (kind, part) in enumerate(_CATEGORIES)
    ]
    return {"images": [], "annotations": [], "categories": categories}


def _annotate(document: dict[str, Any], image_id: int, file: str, kind: str, scene: Scene) -> None:
    height, width = scene.labels.shape
    document["images"].append({"id": image_id, "file_name": file, "width": width, "height": height})
    for label, part in enumerate(scene.part_names, start=1):
        mask = scene.labels == label
        if not mask.any():
            continue
        document["annotations"].append(
            {
                "id": len(document["annotations"]) + 1,
                "image_id": image_id,
                "category_id": _CATEGORIES.index((kind, part)),
                "segmentation": _run_lengths(mask),
                "area": int(mask.sum()),
                "bbox": [float(value) for value in scene.box((part,))],
                "iscrowd": 0,
            }
        )


def _run_lengths(mask: np.ndarray) -> dict[str, Any]:
    runs = coco_mask.encode(np.asfortranarray(mask, dtype=np.uint8))
    return {"size": list(mask.shape), "counts": runs["counts"].decode("ascii")}
