"""How steady parts are: with other seeds, and where a tenth of the photos is left out.

    partdino features butterflies/images --out store
    python scripts/bench_steadiness.py store --parts 6

Prints the agreement of fits with each other: the adjusted Rand index of the parts of all pixels,
at the size that regions are made at, that are object to both.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np

from partdino.describe.settling import settled_of
from partdino.metrics import ari_from_contingency, contingency_table
from partdino.options import validate
from partdino.parts.fitting import fit_model
from partdino.parts.labelling import label_pixels
from partdino.parts.model import PartModel
from partdino.runs.store import FeatureStore, open_stores


def main() -> None:
    """Fit with each seed and without each tenth, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("store", type=Path, help="feature store")
    parser.add_argument("--parts", type=int, default=8)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--drops", type=int, default=3)
    parser.add_argument("--codebooks", type=int, help="other than by default")
    arguments = parser.parse_args()
    store = open_stores([arguments.store])
    numbers = {} if arguments.codebooks is None else {"codebooks": arguments.codebooks}
    given = {**store.header.options, "foreground": "auto", "numbers": numbers}
    options = settled_of(validate(given, str(arguments.store)))

    def fit(keys: Sequence[str], seed: int) -> PartModel:
        return fit_model(store, keys, arguments.parts, replace(options, seed=seed), "")

    models = [fit(store.keys, seed) for seed in range(arguments.seeds)]
    told = [model.steadiness for model in models]
    fits = [labels(store, model) for model in models]
    tenths = (set(store.keys[drop::10]) for drop in range(arguments.drops))
    kept = ([key for key in store.keys if key not in tenth] for tenth in tenths)
    drops = [labels(store, fit(keys, seed=0)) for keys in kept]
    seeds = [agreement(*pair) for pair in combinations(fits, 2)]
    without = [agreement(fits[0], each) for each in drops]
    print("| photos | K | seeds agree | a tenth left out | steadiness, as run.json has it |")
    print("|---:|---:|---:|---:|---:|")
    means = " | ".join(f"{np.mean(each):.2f}" for each in (seeds, without, told))
    print(f"| {len(store.keys)} | {arguments.parts} | {means} |")


def labels(store: FeatureStore, model: PartModel) -> np.ndarray:
    """Return uint8 (N,), the part of every pixel of all photos; 0 is background."""
    return np.concatenate([label_pixels(store.read(key), model).part.ravel() for key in store.keys])


def agreement(first: np.ndarray, second: np.ndarray) -> float:
    """Return the adjusted Rand index of the pixels that are object to both."""
    return ari_from_contingency(contingency_table(first, second)[1:, 1:])


if __name__ == "__main__":
    main()
