"""What is found is what there is: parts of synthetic animals, whose true parts are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from segment_runs import SMALL
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

from partdino import PartDiscovery
from partdino.evaluation.synth import write_layout

PARTS = 8


@pytest.fixture(scope="module")
def animals(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("animals")
    write_layout("photos", root, images=24, seed=3, size=224)
    return root


@pytest.fixture(scope="module")
def truths(animals) -> list[np.ndarray]:
    return [np.asarray(Image.open(path)) for path in sorted((animals / "labels").iterdir())]


def agreement(truths: list[np.ndarray], founds: list[np.ndarray]) -> float:
    """NMI of found with true parts over the pixels of all animals."""
    true = np.concatenate([truth[truth > 0] for truth in truths])
    found = np.concatenate([f[truth > 0] for truth, f in zip(truths, founds, strict=True)])
    return normalized_mutual_info_score(true, found)


def by_position(truths: list[np.ndarray]) -> list[np.ndarray]:
    """Cluster the pixels by where they lie in the animal's true box."""
    places = []
    for truth in truths:
        y, x = np.nonzero(truth)
        places.append(np.stack([(x - x.min()) / np.ptp(x), (y - y.min()) / np.ptp(y)], axis=1))
    clusters = KMeans(PARTS, n_init=3, random_state=0).fit(np.concatenate(places)[::7])
    founds = [np.zeros_like(truth) for truth in truths]
    for truth, found, place in zip(truths, founds, places, strict=True):
        found[truth > 0] = clusters.predict(place)
    return founds


def test_parts_are_far_more_than_position(animals, truths):
    options = {**SMALL, "parts": PARTS, "image_size": 448, "region_size": 224}
    discovery = PartDiscovery(**options, foreground="masks", masks=animals / "labels")
    results = discovery.fit_predict(animals / "images")
    found = agreement(truths, [result.label_map for result in results])
    # 0.50 against 0.34 as written.
    assert found > agreement(truths, by_position(truths)) + 0.08


def test_the_object_is_found_without_masks(animals, truths):
    results = PartDiscovery(**SMALL).fit_predict(animals / "images")
    overlap = []
    for truth, result in zip(truths, results, strict=True):
        found, animal = result.label_map > 0, truth > 0
        overlap.append((found & animal).sum() / (found | animal).sum())
    assert np.mean(overlap) > 0.5  # 0.62 as written
    assert np.min(overlap) > 0.1
