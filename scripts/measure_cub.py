"""Measure on CUB-200-2011 what `partdino segment` promises; prints a table.

- Foreground: the share of visible keypoints inside it, and the share of it inside the boxes, over
  the test images, with the model fitted on the train images.
- Consistency: how well that model labels the test images as a model fitted on all images does.
  Parts are matched one to one; pixels count that both models call foreground.

    python scripts/measure_cub.py ROOT --parts 8 [--store FOLDER]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from tempfile import gettempdir

import numpy as np
from scipy.optimize import linear_sum_assignment

from partdino.describe.placement import describe_images
from partdino.describe.settling import settle
from partdino.describe.source import Source
from partdino.evaluation.datasets import Cub
from partdino.evaluation.methods.cache import cache_settings, open_cache
from partdino.options import validate
from partdino.parts.fitting import fit_model
from partdino.parts.labelling import label_image


def main() -> None:
    """Describe all images once, fit twice, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", type=Path)
    parser.add_argument("--parts", type=int, default=8)
    parser.add_argument("--backbone", default="efficientnet-lite2")
    parser.add_argument("--store", type=Path, default=Path(gettempdir()) / "partdino-cub")
    arguments = parser.parse_args()
    dataset = Cub(arguments.root)
    given = {"parts": arguments.parts, "backbone": arguments.backbone}
    backbone, options, _ = settle(validate(given))
    settings = cache_settings(options, backbone, None)
    store = open_cache(arguments.store, "CUB in its own aspect", settings)
    train, test = dataset.samples("fit"), dataset.samples("score")
    sources = [Source(s.name, s.path) for s in (*train, *test) if s.name not in store]
    for outcome in describe_images(sources, backbone, options):
        if outcome.failure is not None:
            raise SystemExit(f"{outcome.name}: {outcome.failure}")
        store.write(outcome.name, outcome.value)
    names = [sample.name for sample in train]
    half = fit_model(store, names, options, backbone.weights.sha256)
    names += [sample.name for sample in test]
    joint = fit_model(store, names, options, backbone.weights.sha256)
    maps = {
        model: {s.name: label_image(s.name, store.read(s.name), model).label_map for s in test}
        for model in (half, joint)
    }
    keypoints, boxes = foreground_shares(test, maps[half])
    agreement = part_agreement(maps[half], maps[joint], options.parts)
    print(
        "| test images | keypoints in foreground | foreground in box | agreement with joint fit |"
    )
    print("|---|---|---|---|")
    print(f"| {len(test)} | {keypoints:.1%} | {boxes:.1%} | {agreement:.1%} |")


def foreground_shares(samples: Sequence, maps: dict[str, np.ndarray]) -> tuple[float, float]:
    """Return the share of visible keypoints in the foreground, and of foreground in the boxes."""
    hits, inside = [], np.zeros(2, np.int64)
    for sample in samples:
        foreground = maps[sample.name] > 0
        x, y = sample.keypoints[sample.visible].astype(int).T
        height, width = foreground.shape
        hits.append(foreground[y.clip(0, height - 1), x.clip(0, width - 1)])
        left, top, box_width, box_height = sample.box.round().astype(int)
        box = foreground[max(top, 0) : top + box_height, max(left, 0) : left + box_width]
        inside += (box.sum(), foreground.sum())
    return float(np.concatenate(hits).mean()), float(inside[0] / inside[1])


def part_agreement(
    first: dict[str, np.ndarray], second: dict[str, np.ndarray], num_parts: int
) -> float:
    """Return the share of common foreground with the same part, after one-to-one matching."""
    table = np.zeros((num_parts + 1, num_parts + 1), np.int64)
    for name, labels in first.items():
        pairs = labels.astype(np.int64) * (num_parts + 1) + second[name]
        table += np.bincount(pairs.ravel(), minlength=table.size).reshape(table.shape)
    common = table[1:, 1:]
    rows, columns = linear_sum_assignment(-common)
    return float(common[rows, columns].sum() / common.sum())


if __name__ == "__main__":
    main()
