"""Random checkpoints in Meta's naming give what an independent forward pass gives."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import timm
import torch
from meta_reference import Design, embed, forward, position_grid, random_checkpoint
from torch import nn

from partdino.describe.features import load_backbone
from partdino.describe.features.checkpoint import misfit
from partdino.describe.features.loading import load_model
from partdino.describe.features.naming import to_timm
from partdino.describe.features.positions import has_offset, place_as_meta, resample_with_offset
from partdino.describe.features.registry import SHORT_NAMES
from partdino.describe.features.vit import FACETS, ViTFeatures, set_stride
from partdino.errors import ConfigError, WeightsError

# The smallest models of each kind, as Meta released them.
RELEASED = {
    "dino-s16": Design("v1", patch=16, grid=14),
    "dinov2-s14": Design("v2", patch=14, grid=37),
    "dinov2-s14-reg": Design("v2-reg", patch=14, grid=37),
    "dinov3-s16": Design("v3", patch=16, grid=0),
}


@pytest.fixture(scope="module", params=RELEASED)
def released(request, tmp_path_factory):
    """A backbone's name, design, Meta checkpoint, and the file it lies in."""
    design = RELEASED[request.param]
    state = random_checkpoint(design)
    file = tmp_path_factory.mktemp("meta") / f"{request.param}_pretrain.pth"
    torch.save(state, file)
    yield request.param, design, state, file
    file.unlink()


@pytest.fixture(scope="module")
def model(released):
    name, _, _, file = released
    return load_model(name, file)[0]


def noise(design: Design, rows: int, columns: int, batch: int = 1) -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(batch, 3, rows * design.patch, columns * design.patch, generator=generator)


@pytest.mark.parametrize("facet", FACETS)
@torch.inference_mode()
def test_facets_of_a_released_design(released, model, facet):
    _, design, state, _ = released
    pixels = noise(design, 5, 7)
    expected = forward(state, design, pixels)[-1][facet]
    network = copy.deepcopy(model)
    if design.kind in ("v1", "v2"):
        place_as_meta(network)
    features = ViTFeatures(network, None, facet, None)(pixels)
    torch.testing.assert_close(features, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("grid", [(5, 5), (3, 7), (11, 4), (1, 1), (32, 42)])
def test_positions_are_resampled_as_by_meta(grid):
    position = torch.randn(1, 25, 6, generator=torch.Generator().manual_seed(0))
    expected = position_grid(position, 5, *grid, smooth=False).reshape(1, -1, 6)
    torch.testing.assert_close(resample_with_offset(position, grid), expected, rtol=1e-5, atol=1e-5)


def test_which_models_meta_resamples_with_an_offset():
    with_offset = {name for name, timm_name in SHORT_NAMES.items() if has_offset(timm_name)}
    assert with_offset == {
        *("dino-s16", "dino-s8", "dino-b16", "dino-b8"),
        *("dinov2-s14", "dinov2-b14", "dinov2-l14", "dinov2-g14"),
    }


def test_rope_periods_of_a_file_count(tmp_path):
    state = random_checkpoint(RELEASED["dinov3-s16"])
    file, other = tmp_path / "a.pth", tmp_path / "b.pth"
    torch.save(state, file)
    torch.save(state | {"rope_embed.periods": 3 * state["rope_embed.periods"]}, other)
    (first, one), (second, two) = (load_model("dinov3-s16", each) for each in (file, other))
    torch.testing.assert_close(second.rope.periods, 3 * first.rope.periods)
    assert one.sha256 != two.sha256
    pixels = noise(RELEASED["dinov3-s16"], 3, 4)
    tokens = [ViTFeatures(model, None, "token", None)(pixels) for model in (first, second)]
    assert not torch.allclose(*tokens, atol=1e-3)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_named(tmp_path, value):
    state = random_checkpoint(RELEASED["dinov3-s16"])
    state["blocks.3.attn.proj.weight"][2, 2] = value
    torch.save(state, tmp_path / "a.pth")
    with pytest.raises(WeightsError, match=r"a.pth: blocks.3.attn.proj.weight .*no number"):
        load_model("dinov3-s16", tmp_path / "a.pth")


@torch.inference_mode()
def test_the_backbone_normalises_and_reads_the_usual_facet(released):
    name, design, state, file = released
    backbone = load_backbone(name, weights=file)
    images = np.random.default_rng(0).integers(0, 256, (2, 3 * design.patch, 4 * design.patch, 3))
    images = images.astype(np.uint8)
    mean, std = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    pixels = ((torch.tensor(images) / 255 - mean) / std).permute(0, 3, 1, 2)
    facet = "key" if name.startswith("dino-") else "token"
    assert (backbone.facet, backbone.layer, backbone.dim) == (facet, 11, 384)
    expected = forward(state, design, pixels)[-1][facet].numpy()
    np.testing.assert_allclose(backbone.extract(images), expected, rtol=1e-4, atol=1e-4)


# Every design of Meta at a small width and depth.
DESIGNS = {
    "v1": ("vit_small_patch8_224", Design("v1", 8, 6, 48, 3, 3, 192)),
    "v2": ("vit_small_patch14_dinov2", Design("v2", 14, 5, 48, 3, 3, 192)),
    "v2-reg": ("vit_small_patch14_reg4_dinov2", Design("v2-reg", 14, 5, 48, 3, 3, 192)),
    "v2-giant": ("vit_giant_patch14_dinov2", Design("v2", 14, 5, 48, 3, 3, 128, True)),
    "v2-giant-reg": ("vit_giant_patch14_reg4_dinov2", Design("v2-reg", 14, 5, 48, 3, 3, 128, True)),
    "v3": ("vit_small_patch16_dinov3", Design("v3", 16, 0, 48, 3, 3, 192)),
    "v3-plus": ("vit_huge_plus_patch16_dinov3", Design("v3", 16, 0, 48, 3, 3, 192, True)),
    "v3-7b": ("vit_7b_patch16_dinov3", Design("v3", 16, 0, 96, 3, 3, 192, True)),
    "v3-biased": ("vit_base_patch16_dinov3_qkvb", Design("v3", 16, 0, 48, 3, 3, 192)),
}


def shrunk(architecture: str, design: Design, state: dict[str, torch.Tensor]) -> nn.Module:
    """A model of timm at a small width and depth, filled from Meta's naming."""
    state, options = to_timm(state)
    model = timm.create_model(
        architecture,
        embed_dim=design.dim,
        num_heads=design.heads,
        depth=design.depth,
        num_classes=0,
        dynamic_img_size=True,
        **options,
    )
    assert misfit(model, state) == ""
    model.load_state_dict(state)
    if design.kind in ("v1", "v2"):
        place_as_meta(model)
    return model.eval()


@pytest.mark.parametrize("architecture, design", DESIGNS.values(), ids=DESIGNS)
@torch.inference_mode()
def test_facets_layers_sizes_and_strides_of_every_design(architecture, design):
    state = random_checkpoint(design)
    model = shrunk(architecture, design, state)
    for rows, columns, stride in ((5, 5, None), (3, 7, None), (4, 3, design.patch // 2)):
        pixels = noise(design, rows, columns, batch=2)
        expected = forward(state, design, pixels, stride)
        for layer in range(design.depth):
            for facet in FACETS:
                features = ViTFeatures(copy.deepcopy(model), layer, facet, stride)(pixels)
                reference = expected[layer][facet]
                torch.testing.assert_close(features, reference, rtol=1e-4, atol=1e-4)


@torch.inference_mode()
def test_the_7b_file_has_no_qkv_bias_and_a_norm_for_training():
    architecture, design = DESIGNS["v3-7b"]
    state = random_checkpoint(design)
    zeros = {name: torch.zeros_like(state.pop(name)) for name in list(state) if "qkv.bias" in name}
    released = state | {f"local_cls_norm.{k}": torch.ones(design.dim) for k in ("weight", "bias")}
    network = ViTFeatures(shrunk(architecture, design, released), None, "token", None)
    pixels = noise(design, 3, 4)
    expected = forward(state | zeros, design, pixels)[-1]["token"]
    torch.testing.assert_close(network(pixels), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("bias", ["zero", "unmasked"])
@torch.inference_mode()
def test_biases_of_dinov3(bias):
    design = Design("v3", 16, 0, 48, 3, 2, 192)
    state = random_checkpoint(design)
    for name in [n for n in state if n.endswith("qkv.bias")]:
        if bias == "zero":  # as released: timm's plain model, which has none
            state[name].zero_()
        else:  # of a model trained without the mask: the keys' bias counts
            del state[f"{name}_mask"]
    model = shrunk("vit_small_patch16_dinov3", design, state)
    assert ("blocks.0.attn.qkv.bias" in model.state_dict()) == (bias == "unmasked")
    pixels = noise(design, 3, 4)
    expected = forward(state, design, pixels)
    for facet in FACETS:
        network = ViTFeatures(copy.deepcopy(model), None, facet, None)
        torch.testing.assert_close(network(pixels), expected[-1][facet], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("patch, stride", [(14, 7), (16, 8), (16, 4), (8, 4), (14, 2)])
@torch.inference_mode()
def test_fine_cells_tile_the_coarse_ones(patch, stride):
    """Patches that measure their own position lie on the centres of their cells."""
    x, y = torch.arange(4.0 * patch) + 0.5, torch.arange(3.0 * patch) + 0.5
    image = torch.stack(torch.meshgrid(y, x, indexing="ij"))[None]  # channels: own y, own x
    patch_embed = timm.layers.PatchEmbed(
        img_size=None, patch_size=patch, in_chans=2, embed_dim=2, flatten=False
    )
    nn.init.zeros_(patch_embed.proj.bias)
    mean = torch.eye(2)[:, :, None, None].expand(2, 2, patch, patch) / patch**2
    patch_embed.proj.weight.data = mean.contiguous()
    coarse = patch_embed(image)
    set_stride(patch_embed, stride)
    fine = patch_embed(image)
    cells = patch // stride
    assert fine.shape[-2:] == (3 * cells, 4 * cells)
    inner = fine[..., cells:-cells, cells:-cells]  # beyond, patches reach over the border
    rows = torch.arange(cells, 2 * cells) * stride + stride / 2
    columns = torch.arange(cells, 3 * cells) * stride + stride / 2
    expected = torch.stack(torch.meshgrid(rows, columns, indexing="ij"))[None]
    torch.testing.assert_close(inner, expected, rtol=0, atol=1e-3)
    means = torch.nn.functional.avg_pool2d(inner, cells)
    torch.testing.assert_close(means, coarse[..., 1:-1, 1:-1], rtol=0, atol=1e-3)


def test_embedding_of_the_reference_is_a_convolution():
    design = Design("v1", patch=8, grid=4, dim=12)
    state = random_checkpoint(design)
    pixels = noise(design, 3, 2)
    weight, bias = state["patch_embed.proj.weight"], state["patch_embed.proj.bias"]
    expected = torch.nn.functional.conv2d(pixels, weight, bias, stride=8).permute(0, 2, 3, 1)
    torch.testing.assert_close(embed(state, design, pixels), expected, rtol=1e-4, atol=1e-5)


@pytest.fixture(scope="module")
def small_vit() -> nn.Module:
    model = timm.create_model("vit_tiny_patch16_224", num_classes=0, dynamic_img_size=True, depth=3)
    return model.eval()


def test_a_layer_out_of_range_names_the_range(small_vit):
    for layer in (3, -4):
        with pytest.raises(ConfigError, match=rf"layer {layer} .* from -3 to 2"):
            ViTFeatures(copy.deepcopy(small_vit), layer, "token", None)


def test_negative_layers_count_from_the_end(small_vit):
    assert ViTFeatures(copy.deepcopy(small_vit), -2, "key", None).layer == 1


@pytest.mark.parametrize("stride", [0, -8, 3, 32])
def test_a_stride_that_does_not_divide_the_patch_is_refused(small_vit, stride):
    with pytest.raises(ConfigError, match="choose from 1, 2, 4, 8, 16"):
        ViTFeatures(copy.deepcopy(small_vit), None, "token", stride)


@pytest.mark.parametrize(
    "architecture, facet, module",
    [
        ("eva02_tiny_patch14_224", "key", "k_proj"),  # separate projections
        ("eva02_tiny_patch14_224", "query", "q_proj"),
        ("vit_wee_patch16_reg1_gap_256", "key", "k_norm"),  # keys are normalised
    ],
)
@torch.inference_mode()
def test_facets_of_other_designs_are_what_the_attention_uses(architecture, facet, module):
    torch.manual_seed(0)
    options = {"qk_norm": True} if module == "k_norm" else {"qkv_fused": False}
    model = timm.create_model(
        architecture, num_classes=0, dynamic_img_size=True, depth=2, **options
    ).eval()
    patch = model.patch_embed.patch_size[0]
    pixels = torch.randn(1, 3, 2 * patch, 3 * patch)
    seen = []
    hook = lambda _module, _inputs, output: seen.append(output)  # noqa: E731
    handle = model.blocks[-1].attn.get_submodule(module).register_forward_hook(hook)
    model(pixels)
    handle.remove()
    used = seen[0] if seen[0].ndim == 3 else seen[0].transpose(1, 2).flatten(-2)
    used = used[:, model.num_prefix_tokens :].reshape(1, 2, 3, -1)
    features = ViTFeatures(model, None, facet, None)(pixels)
    torch.testing.assert_close(features, used)


def test_a_block_without_plain_attention_has_no_keys():
    model = timm.create_model(
        "vit_base_patch16_18x2_224", embed_dim=48, num_heads=2, depth=1, dynamic_img_size=True
    )
    with pytest.raises(ConfigError, match="choose token"):
        ViTFeatures(model, None, "key", None)
