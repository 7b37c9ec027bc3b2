"""Parts that mirror each other, kept together or apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from segment_runs import SMALL, quick_backbone

from partdino import PartDiscovery
from partdino.describe.features import load_backbone
from partdino.describe.placement import describe_images
from partdino.describe.source import Source
from partdino.describe.symmetry import mirrored_features, weigh_sides
from partdino.describe.weights import is_available
from partdino.evaluation.synth import Scene, render_face
from partdino.options import Options

FACES = 6
MIRRORED = (slice(None), slice(None, None, -1))


class GreyAndSlope:
    """A backbone with one even feature, the grey level, and one odd one, its change along a row."""

    def extract(self, images: np.ndarray) -> np.ndarray:
        grey = images.mean(axis=-1)
        return np.stack([grey, np.gradient(grey, axis=2)], axis=-1).astype(np.float32)


@pytest.fixture(scope="module", autouse=True)
def _quick() -> Iterator[None]:
    if not is_available("efficientnet-lite2"):
        pytest.skip("partdino weights pull efficientnet-lite2")
    with quick_backbone():
        yield


@pytest.fixture(scope="module")
def faces() -> list[Scene]:
    return [render_face(np.random.default_rng(n), 224, 224, size=0.85) for n in range(FACES)]


@pytest.fixture(scope="module")
def fitted(faces) -> dict[str, PartDiscovery]:
    """Parts of the faces, by the value of the option."""
    images = [face.image for face in faces]
    options = {**SMALL, "parts": 8, "image_size": 352, "foreground": "none"}
    values = ("auto", "together", "apart")
    return {value: PartDiscovery(**options, symmetry=value).fit(images) for value in values}


@pytest.mark.parametrize("weight", [0, 1, 5])
def test_even_and_odd_features_are_told_apart(weight):
    images = np.random.default_rng(0).integers(0, 256, (2, 6, 9, 3), dtype=np.uint8)
    features = GreyAndSlope().extract(images)
    weighed = weigh_sides(features, mirrored_features(GreyAndSlope(), images), weight)
    np.testing.assert_allclose(weighed, features * np.float32([1, weight]), rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize("size", [(64, 96), (96, 160)])
def test_together_the_features_mirror_with_the_image(size):
    backbone = load_backbone("efficientnet-lite2")
    images = np.random.default_rng(1).integers(0, 256, (2, *size, 3), dtype=np.uint8)
    flipped = np.ascontiguousarray(images[:, :, ::-1])
    here, there = (
        weigh_sides(backbone.extract(view), mirrored_features(backbone, view), 0)
        for view in (images, flipped)
    )
    np.testing.assert_array_equal(there, here[:, :, ::-1])


def test_together_the_parts_mirror_with_the_image(faces, fitted):
    agreement = {}
    for value in ("together", "apart"):
        images = [face.image for face in faces[:4]]
        here = fitted[value].predict(images)
        there = fitted[value].predict([image[MIRRORED].copy() for image in images])
        agreement[value] = np.mean(
            [
                np.mean(a.label_map == b.label_map[MIRRORED])
                for a, b in zip(here, there, strict=True)
            ]
        )
    # Regions are not to the pixel what they are in the mirrored image.
    assert agreement["together"] > 0.95
    assert agreement["apart"] < 0.6


def test_eyes_share_a_part_or_do_not(faces, fitted):
    shared = {}
    for value, discovery in fitted.items():
        results = discovery.predict([face.image for face in faces])
        eyes = [
            [result.label_map[int(y), int(x)] for x, y, _ in face.keypoints[:2]]
            for face, result in zip(faces, results, strict=True)
        ]
        shared[value] = sum(left == right for left, right in eyes)
    assert shared["together"] >= FACES - 1
    assert shared["apart"] <= FACES // 3


def test_what_is_object_does_not_depend_on_its_side(faces):
    images = [face.image for face in faces]
    found = [
        [
            result.label_map > 0
            for result in PartDiscovery(**SMALL, symmetry=value).fit_predict(images)
        ]
        for value in ("together", "apart")
    ]
    # All but the pixels of the full size on which the parts at the outline have a say.
    assert np.mean(np.not_equal(*found)) < 1e-4
    assert all(0.01 < inside.mean() < 0.95 for inside in found[0])


def test_auto_leaves_the_features_as_they_are(faces):
    backbone = load_backbone("efficientnet-lite2")
    options = Options(**{**SMALL, "regions": "felzenszwalb", "device": "cpu"})
    source = Source("face", faces[0].image)
    (outcome,) = describe_images([source], backbone, options, with_patches=True)
    features = backbone.extract(faces[0].image[None])[0]
    expected = features / np.linalg.norm(features, axis=-1, keepdims=True)
    np.testing.assert_array_equal(outcome.value.patches, expected.astype(np.float16))


@pytest.mark.parametrize("symmetry", ["together", "apart"])
def test_wherever_the_network_runs(faces, symmetry):
    backbone = load_backbone("efficientnet-lite2")
    options = replace(
        Options(**{**SMALL, "regions": "felzenszwalb", "device": "cpu"}),
        symmetry=symmetry,
        batch_size=2,
    )
    sources = [Source(str(n), face.image) for n, face in enumerate(faces[:3])]
    here, there = (
        [outcome.value.features.tobytes() for outcome in outcomes]
        for outcomes in (
            describe_images(sources, backbone, options),
            describe_images(sources, backbone, replace(options, device="cuda")),
        )
    )
    assert here == there
