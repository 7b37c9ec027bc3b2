"""Convolutional backbones: the embedded EfficientNet-lite2, DINOv3 ConvNeXts, any other of timm."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest
import timm
import torch
import torch.nn.functional as F
from skimage.data import chelsea

from partdino.describe.features import Backbone, extract_features, load_backbone
from partdino.describe.features.checkpoint import misfit
from partdino.describe.features.convnet import ConvFeatures
from partdino.describe.features.naming import to_timm
from partdino.describe.weights import is_available
from partdino.errors import ConfigError

State = dict[str, torch.Tensor]


@pytest.fixture(scope="module")
def lite2() -> Backbone:
    if not is_available("efficientnet-lite2"):
        pytest.skip(
            "efficientnet-lite2 is not installed: `partdino weights pull efficientnet-lite2`"
        )
    return load_backbone("efficientnet-lite2")


def test_the_embedded_weights_know_a_cat(lite2):
    image = cv2.resize(chelsea(), (260, 260), interpolation=cv2.INTER_AREA)
    pixels = (torch.tensor(image).permute(2, 0, 1)[None].float() - 127) / 128
    probability = lite2.network.model(pixels).softmax(1)[0]
    assert probability.argmax() == 285  # Egyptian cat
    assert probability[285].item() == pytest.approx(0.75, abs=0.01)


def test_the_embedded_features(lite2):
    assert (lite2.stride, lite2.patch_size, lite2.dim) == (16, 32, 120 + 352)
    assert (lite2.default_image_size, lite2.layer, lite2.facet) == (672, None, "token")
    features = extract_features(chelsea(), lite2, 256)
    assert features.shape == (14, 20, 472)
    np.testing.assert_allclose(np.linalg.norm(features[..., :120], axis=-1), 1, rtol=1e-5)
    assert (np.linalg.norm(features[..., 120:], axis=-1) <= 1 + 1e-5).all()


def test_the_embedded_features_are_two_stages_side_by_side(lite2):
    image = cv2.resize(chelsea(), (192, 128), interpolation=cv2.INTER_AREA)
    stages = {}
    handles = [
        lite2.network.model.blocks[i].register_forward_hook(
            lambda _module, _inputs, output, i=i: stages.__setitem__(i, output)
        )
        for i in (4, 6)  # the last blocks at stride 16 and 32
    ]
    features = lite2.extract(image[None])[0]
    for handle in handles:
        handle.remove()
    fine, coarse = (stages[i][0].numpy().transpose(1, 2, 0) for i in (4, 6))
    assert fine.shape == (8, 12, 120) and coarse.shape == (4, 6, 352)
    fine = fine / np.linalg.norm(fine, axis=-1, keepdims=True)
    coarse = coarse / np.linalg.norm(coarse, axis=-1, keepdims=True)
    resized = np.stack([cv2.resize(c, (12, 8)) for c in np.moveaxis(coarse, -1, 0)], axis=-1)
    np.testing.assert_allclose(features, np.concatenate([fine, resized], -1), atol=1e-5)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_the_embedded_results_depend_on_neither_threads_nor_batch(lite2, precision):
    lite2 = replace(lite2, precision=precision)
    images = np.random.default_rng(0).integers(0, 256, (2, 672, 672, 3), dtype=np.uint8)
    threads = torch.get_num_threads()
    results = []
    for number in (1, 2):
        torch.set_num_threads(number)
        results.append(lite2.extract(images[:number])[0].tobytes())
        assert torch.get_num_threads() == number
    torch.set_num_threads(threads)
    assert results[0] == results[1]


DEPTHS, DIMS = (3, 3, 9, 3), (96, 192, 384, 768)  # ConvNeXt-tiny


def random_convnext(seed: int = 0) -> State:
    """Random tensors under the names, and in the shapes, of Meta's DINOv3 ConvNeXt-tiny."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int, std: float = 0.1, mean: float = 0.0) -> torch.Tensor:
        return torch.randn(shape, generator=generator) * std + mean

    state: State = {}

    def layer(name: str, *shape: int) -> None:
        fan_in = int(np.prod(shape[1:]))
        std, mean = (fan_in**-0.5, 0.0) if len(shape) > 1 else (0.1, 1.0)
        state[f"{name}.weight"] = normal(*shape, std=std, mean=mean)
        state[f"{name}.bias"] = normal(shape[0])

    layer("downsample_layers.0.0", DIMS[0], 3, 4, 4)
    layer("downsample_layers.0.1", DIMS[0])
    for i in (1, 2, 3):
        layer(f"downsample_layers.{i}.0", DIMS[i - 1])
        layer(f"downsample_layers.{i}.1", DIMS[i], DIMS[i - 1], 2, 2)
    for i, (depth, dim) in enumerate(zip(DEPTHS, DIMS, strict=True)):
        for j in range(depth):
            block = f"stages.{i}.{j}"
            state[f"{block}.gamma"] = normal(dim, mean=0.3)
            layer(f"{block}.dwconv", dim, 1, 7, 7)
            layer(f"{block}.norm", dim)
            layer(f"{block}.pwconv1", 4 * dim, dim)
            layer(f"{block}.pwconv2", dim, 4 * dim)
    layer("norm", DIMS[-1])
    # Meta's model registers its final norm twice.
    return state | {f"norms.3.{part}": state[f"norm.{part}"] for part in ("weight", "bias")}


def convnext_stages(state: State, pixels: torch.Tensor) -> list[torch.Tensor]:
    """ConvNeXt from its paper: the maps (B, H, W, C) after each stage, the last normalised."""

    def norm(x: torch.Tensor, name: str) -> torch.Tensor:
        return F.layer_norm(x, x.shape[-1:], state[f"{name}.weight"], state[f"{name}.bias"], 1e-6)

    def linear(x: torch.Tensor, name: str) -> torch.Tensor:
        return x @ state[f"{name}.weight"].T + state[f"{name}.bias"]

    def conv(x: torch.Tensor, name: str, **options: int) -> torch.Tensor:
        weight, bias = state[f"{name}.weight"], state[f"{name}.bias"]
        return F.conv2d(x.permute(0, 3, 1, 2), weight, bias, **options).permute(0, 2, 3, 1)

    x = pixels.permute(0, 2, 3, 1)
    maps = []
    for i, depth in enumerate(DEPTHS):
        down = f"downsample_layers.{i}"
        if i == 0:
            x = norm(conv(x, f"{down}.0", stride=4), f"{down}.1")
        else:
            x = conv(norm(x, f"{down}.0"), f"{down}.1", stride=2)
        for j in range(depth):
            block = f"stages.{i}.{j}"
            y = conv(x, f"{block}.dwconv", padding=3, groups=x.shape[-1])
            y = linear(
                F.gelu(linear(norm(y, f"{block}.norm"), f"{block}.pwconv1")), f"{block}.pwconv2"
            )
            x = x + state[f"{block}.gamma"] * y
        maps.append(x)
    maps[-1] = norm(maps[-1], "norm")
    return maps


@torch.inference_mode()
def test_convnext_in_metas_naming(tmp_path):
    state = random_convnext()
    file = tmp_path / "dinov3_convnext_tiny_pretrain.pth"
    torch.save(state, file)
    backbone = load_backbone("dinov3-convnext-tiny", weights=file)
    assert (backbone.stride, backbone.patch_size, backbone.dim) == (16, 32, 384 + 768)
    pixels = torch.randn(1, 3, 96, 160, generator=torch.Generator().manual_seed(1))
    fine, coarse = (F.normalize(m, dim=-1) for m in convnext_stages(state, pixels)[-2:])
    coarse = F.interpolate(coarse.permute(0, 3, 1, 2), (6, 10), mode="bilinear").permute(0, 2, 3, 1)
    expected = torch.cat([fine, coarse], dim=-1)
    torch.testing.assert_close(backbone.network(pixels), expected, rtol=1e-4, atol=1e-4)

    different, _ = to_timm(state | {"norms.3.bias": torch.zeros(768)})  # no second name after all
    assert "1 tensors unknown (such as norms.3.bias)" in misfit(backbone.network.model, different)


@pytest.mark.parametrize("name", ["resnet18", "mobilenetv3_small_100", "convnext_tiny_hnf"])
def test_other_convnets_give_the_grid_they_promise(name):
    network = ConvFeatures(timm.create_model(name, num_classes=0).eval())
    with torch.inference_mode():
        features = network(torch.randn(2, 3, 96, 64))
    assert features.shape == (2, 96 // network.stride, 64 // network.stride, network.dim)


def test_a_model_without_an_even_grid_is_refused():
    with pytest.raises(ConfigError, match="no even feature maps"):
        ConvFeatures(timm.create_model("inception_v3", num_classes=0).eval())
