"""The backbone around the network: sizes, batches, precision, options."""

from __future__ import annotations

import numpy as np
import pytest
import timm
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file

from partdino.describe.features import extract_features, load_backbone
from partdino.errors import ConfigError


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    """Random weights of timm's smallest vision transformer (patches of 16 pixels)."""
    torch.manual_seed(0)
    file = tmp_path_factory.mktemp("weights") / "test_vit.safetensors"
    save_file(timm.create_model("test_vit", num_classes=0).state_dict(), file)
    return file


@pytest.fixture(scope="module")
def backbone(weights):
    return load_backbone("test_vit", weights=weights)


def photos(count: int, height: int, width: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (count, height, width, 3), dtype=np.uint8)


def test_attributes(backbone, weights):
    assert (backbone.name, backbone.timm_name, backbone.facet) == ("test_vit", "test_vit", "token")
    assert backbone.stride == backbone.patch_size == 16
    assert backbone.layer == 5 and backbone.dim == 64
    assert backbone.default_image_size == 512
    assert backbone.weights.source == str(weights)


@settings(deadline=None, max_examples=60)
@given(
    height=st.integers(1, 20000), width=st.integers(1, 20000), size=st.sampled_from([64, 224, 518])
)
def test_input_size(backbone, height, width, size):
    h, w = backbone.input_size(height, width, size)
    unit = backbone.patch_size
    assert h % unit == w % unit == 0 and min(h, w) >= 2 * unit
    aspect = min(max(height / width, 1 / 8), 8)
    assert abs(h - size * aspect**0.5) <= unit / 2 or h == 2 * unit
    assert abs(w - size / aspect**0.5) <= unit / 2 or w == 2 * unit
    assert backbone.input_size(width, height, size) == (w, h)


def test_default_sizes_make_grids_of_32_to_42_cells():
    from partdino.describe.features.vit import ViTFeatures

    for name, size in (
        ("vit_small_patch8_224", 336),
        ("vit_small_patch14_dinov2", 518),
        ("vit_small_patch16_dinov3", 512),
    ):
        with torch.device("meta"):
            model = timm.create_model(name, dynamic_img_size=True)
            assert ViTFeatures(model, None, "token", None).default_size == size


def test_results_are_the_same_bytes_for_every_batch(backbone):
    images = photos(3, 96, 64)
    together = backbone.extract(images)
    assert together.shape == (3, 6, 4, 64) and together.dtype == np.float32
    apart = np.concatenate([backbone.extract(image[None]) for image in images])
    assert together.tobytes() == apart.tobytes()


def test_an_image_of_any_size(backbone):
    image = photos(1, 50, 75)[0]
    assert extract_features(image, backbone, 96).shape == (5, 7, 64)
    constant = extract_features(np.full((40, 40, 3), 7, np.uint8), backbone, 64)
    assert np.isfinite(constant).all()


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_lower_precision_is_near_and_gives_float32(backbone, weights, precision):
    images = photos(1, 64, 64)
    low = load_backbone("test_vit", weights=weights, precision=precision).extract(images)
    full = backbone.extract(images)
    assert low.dtype == np.float32
    assert 0 < np.abs(low - full).max() < 0.1 * np.abs(full).max()


@pytest.mark.parametrize(
    "images",
    [
        photos(1, 60, 64),  # no multiple of the patch
        photos(1, 64, 64)[0],
        photos(1, 64, 64).astype(np.float32),
        np.zeros((1, 64, 64, 4), np.uint8),
        np.zeros((1, 0, 64, 3), np.uint8),
    ],
)
def test_wrong_arrays_are_refused(backbone, images):
    with pytest.raises(ValueError, match=r"expected uint8|not a multiple"):
        backbone.extract(images)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"facet": "tokens"}, "unknown facet 'tokens'"),
        ({"precision": "int8"}, "unknown precision 'int8'"),
        ({"device": "warp9"}, "device 'warp9'"),
        ({"layer": 6}, "layer 6 is out of range"),
        ({"stride": 5}, "stride 5"),
    ],
)
def test_wrong_options_are_refused(weights, options, words):
    with pytest.raises(ConfigError, match=words):
        load_backbone("test_vit", weights=weights, **options)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"facet": "key"}, "no facet 'key'"),
        ({"layer": -1}, "leave --layer"),
        ({"stride": 8}, "leave --layer and --stride"),
    ],
)
def test_convnets_have_only_tokens(options, words):
    with pytest.raises(ConfigError, match=words):
        load_backbone("efficientnet-lite2", **options)


def test_models_of_one_input_size_are_refused():
    with pytest.raises(ConfigError, match="one size only"):
        load_backbone("swin_tiny_patch4_window7_224")


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a CUDA device")
def test_a_missing_device_is_refused(weights):
    with pytest.raises(ConfigError, match="--device cpu"):
        load_backbone("test_vit", weights=weights, device="cuda")


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_gpu_gives_nearly_the_same(backbone, weights):
    images = photos(3, 96, 64)
    on_gpu = load_backbone("test_vit", weights=weights, device="cuda").extract(images)
    np.testing.assert_allclose(on_gpu, backbone.extract(images), rtol=1e-2, atol=1e-2)
