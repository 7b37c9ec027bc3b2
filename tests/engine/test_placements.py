"""The same description of an image wherever its stages run, and however many run together."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import timm
import torch
from PIL import Image
from safetensors.torch import save_file
from scipy.ndimage import gaussian_filter

from partdino.describe import weights as packaged
from partdino.describe.features import load_backbone
from partdino.describe.placement import _on_device, _on_devices, describe_images
from partdino.describe.regions.flood import flood
from partdino.describe.source import Source
from partdino.describe.stages import pool_image
from partdino.engine.pools import worker_pool
from partdino.errors import WeightsError
from partdino.options import Options

OPTIONS = Options(
    boundaries="gradient",
    regions="watershed",
    region_scale=0.02,
    image_size=96,
    region_size=96,
    device="cpu",
    batch_size=3,
)


def make_weights(file: Path, seed: int) -> Path:
    """Write random weights of timm's smallest vision transformer."""
    torch.manual_seed(seed)
    save_file(timm.create_model("test_vit", num_classes=0).state_dict(), file)
    return file


@pytest.fixture(scope="module")
def weights(tmp_path_factory) -> Path:
    return make_weights(tmp_path_factory.mktemp("weights") / "test_vit.safetensors", seed=0)


@pytest.fixture(scope="module", params=["test_vit", "efficientnet-lite2"])
def backbone(request, weights):
    vit = request.param == "test_vit"
    return load_backbone(request.param, weights=weights if vit else None)


@pytest.fixture(scope="module")
def sources(tmp_path_factory) -> list[Source]:
    """Nine photos of three shapes, one of which is no photo."""
    folder = tmp_path_factory.mktemp("photos")
    rng = np.random.default_rng(0)
    made = []
    for number in range(9):
        path = folder / f"{number}.png"
        size = ((60, 90), (90, 60), (80, 80))[number % 3]
        image = rng.integers(0, 60, (*size, 3), dtype=np.uint8)
        image[20:40, 15 : 30 + 3 * number] += 150
        Image.fromarray(image).save(path)
        made.append(Source(path.name, path))
    (folder / "4.png").write_bytes(b"no photo")
    return made


def on_device(sources, backbone, options, pool=None, place=_on_device):
    """Describe images as for an accelerator, on the CPU: any machine has one."""
    return place(
        sources, backbone, options, pool, partial(pool_image, options=options, with_patches=False)
    )


def parts_of(outcomes) -> list[tuple]:
    """Return all that was found out, in a form that can be compared to the bit."""
    return [
        (o.name, o.failure, o.value and [np.asarray(v).tobytes() for v in vars(o.value).values()])
        for o in outcomes
    ]


@pytest.fixture(scope="module")
def expected(sources, backbone) -> list[tuple]:
    outcomes = [o for s in sources for o in describe_images([s], backbone, OPTIONS)]
    assert [o.failure is None for o in outcomes] == [n != 4 for n in range(9)]
    return parts_of(outcomes)


def test_on_workers(sources, backbone, expected):
    with worker_pool(2) as pool:
        outcomes = list(describe_images(sources, backbone, OPTIONS, pool))
    assert parts_of(outcomes) == expected
    stages = {"decode", "boundaries", "regions", "features", "pooling"}
    assert set(outcomes[0].seconds) == set(outcomes[0].cpu_seconds) == stages


@pytest.mark.parametrize(("workers", "batch_size"), [(0, 1), (0, 3), (2, 8)])
def test_on_a_device(sources, backbone, expected, workers, batch_size):
    options = replace(OPTIONS, batch_size=batch_size)
    with worker_pool(workers) as pool:
        outcomes = list(on_device(sources, backbone, options, pool))
    assert parts_of(outcomes) == expected


@pytest.mark.parametrize("batch_size", [1, 8])
def test_the_flood_on_a_device_cuts_the_same_regions(sources, backbone, monkeypatch, batch_size):
    def smooth(images, *_):
        blurred = gaussian_filter(np.asarray(images, np.float32), (0, 2, 2, 0)[-images.ndim :])
        return (blurred.mean(axis=-1) / 255).astype(np.float32)

    flooded = []
    monkeypatch.setattr("partdino.describe.stages.detect_boundaries", smooth)
    monkeypatch.setattr(
        "partdino.describe.stages.flood", lambda *given: flooded.append(1) or flood(*given)
    )
    options = replace(OPTIONS, boundaries="hed", batch_size=batch_size)
    here = parts_of(describe_images(sources, backbone, options))
    assert not flooded
    assert parts_of(on_device(sources, backbone, options)) == here
    assert flooded


def test_on_devices_of_workers(sources, backbone, expected):
    options = replace(OPTIONS, batch_size=1)
    with worker_pool(2) as pool:
        outcomes = list(on_device(sources, backbone, options, pool, _on_devices))
    assert parts_of(outcomes) == expected


def test_a_backbone_bound_for_a_device_is_loaded_there(backbone):
    assert backbone.bound_for("meta").device.type == "cpu"
    assert pickle.loads(pickle.dumps(backbone.bound_for("meta"))).device.type == "meta"


def test_on_a_device_with_little_memory(sources, backbone, expected, monkeypatch):
    extract, tried = type(backbone).extract, []

    def with_little_memory(self, images):
        tried.append(len(images))
        if len(images) > 1:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return extract(self, images)

    monkeypatch.setattr(type(backbone), "extract", with_little_memory)
    assert parts_of(on_device(sources, backbone, OPTIONS)) == expected
    assert max(tried) > 1


@pytest.mark.skipif(not packaged.is_available("hed"), reason="partdino weights pull hed")
def test_with_hed(sources, weights):
    backbone = load_backbone("test_vit", weights=weights)
    options = replace(OPTIONS, boundaries="hed", region_size=64)
    here = parts_of(describe_images(sources, backbone, options))
    assert parts_of(on_device(sources, backbone, options)) == here


def test_without_boundaries(sources, backbone):
    options = replace(OPTIONS, boundaries="none", regions="felzenszwalb", region_scale=60.0)
    here = parts_of(describe_images(sources, backbone, options))
    assert parts_of(on_device(sources, backbone, options)) == here


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_in_lower_precision_too(sources, weights, precision):
    backbone = load_backbone("test_vit", weights=weights, precision=precision)
    here = parts_of(describe_images(sources, backbone, OPTIONS))
    assert parts_of(on_device(sources, backbone, OPTIONS)) == here


def test_a_backbone_that_was_sent_is_the_same(backbone):
    images = np.random.default_rng(1).integers(0, 256, (1, 64, 96, 3), dtype=np.uint8)
    sent = pickle.dumps(backbone)
    received = pickle.loads(sent)
    assert len(sent) < 2000 and received is pickle.loads(sent)
    assert received.weights == backbone.weights
    assert received.extract(images).tobytes() == backbone.extract(images).tobytes()


def test_workers_refuse_weights_that_have_changed(sources, tmp_path):
    file = make_weights(tmp_path / "weights.safetensors", seed=0)
    backbone = load_backbone("test_vit", weights=file)
    make_weights(file, seed=1)
    with worker_pool(1) as pool, pytest.raises(WeightsError, match="have changed") as caught:
        list(describe_images(sources, backbone, OPTIONS, pool))
    assert "\n" not in str(caught.value)
