"""Dense features of timm's vision transformers: tokens, keys, queries and values of any layer."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from timm.layers.attention import Attention, AttentionRope
from timm.layers.patch_embed import PatchEmbed
from timm.models.eva import EvaAttention, EvaBlock
from timm.models.vision_transformer import Block
from torch import Tensor, nn

from partdino.errors import ConfigError

FACETS = ("token", "key", "query", "value")

_PROJECTIONS = ("query", "key", "value")  # the order in which timm packs them
# A value between two pixels from its four neighbours (Keys' cubic convolution, a = -1/2).
_HALF_PIXEL = (-1 / 16, 9 / 16, 9 / 16, -1 / 16)


class ViTFeatures(nn.Module):
    """One facet of one layer of a vision transformer, as a grid.

    Tokens of any layer pass the network's final norm, as in Meta's `get_intermediate_layers`.
    Keys, queries and values are those of the layer's attention with their biases, after timm's
    query and key norm where a model has one, and *before* the rotary position embedding of DINOv3:
    a key then says what a patch shows, not where it lies. Heads are concatenated. Class and
    register tokens are left out. Blocks after the layer are removed and never run.

    Inputs of any size go in, square or not; for how absolute position embeddings are brought to the
    grid, see `partdino.describe.features.positions`.

    Parameters
    ----------
    model
        A timm ``VisionTransformer`` or ``Eva`` with ``dynamic_img_size``; changed in place.
    layer
        Block number; negative ones count from the end; None is the last.
    facet
        One of `FACETS`.
    stride
        Input pixels from one patch to the next, a divisor of the patch size; None is the patch
        size. See `set_stride`.

    Raises
    ------
    ConfigError
        The layer, the facet or the stride is not to be had in this model.
    """

    def __init__(self, model: Any, layer: int | None, facet: str, stride: int | None) -> None:
        super().__init__()
        self.model: Any = model
        self.multiple: int = model.patch_embed.feat_ratio()
        self.stride = self.multiple
        # 512 pixels as far as that makes 32 to 42 patches: 518 for 14, 512 for 16, 336 for 8.
        self.default_size = min(max(round(512 / self.multiple), 32), 42) * self.multiple
        self.layer = _resolve_layer(layer, len(model.blocks))
        model.blocks = model.blocks[: self.layer + 1]
        self.dim: int = model.embed_dim
        if facet != "token":
            projection = _Projection(model.blocks[-1], facet)
            model.blocks[-1] = projection
            model.norm = nn.Identity()
            self.dim = projection.dim
        if stride not in (None, self.stride):
            set_stride(model.patch_embed, stride)
            self.stride = stride

    def forward(self, pixels: Tensor) -> Tensor:
        """Map normalised images (B, 3, h, w) to features (B, h / stride, w / stride, dim)."""
        batch, _, height, width = pixels.shape
        tokens = self.model.forward_features(pixels)[:, self.model.num_prefix_tokens :]
        return tokens.reshape(batch, height // self.stride, width // self.stride, self.dim)


def set_stride(patch_embed: Any, stride: int) -> None:
    """Let the patches overlap: one patch every ``stride`` pixels, centred on its square.

    A fine square covers ``stride`` pixels, so that 2x2 squares of half the stride cover exactly one
    square of the full stride. Patches reach over the image border, where edge pixels are repeated.
    Position embeddings are sampled at the squares' centres, absolute and rotary ones alike, so that
    these are aligned without further help.

    Where patch and stride differ by an odd number (7 for 14), square centres lie half a pixel off
    the patch centres of any whole-pixel padding. The patch kernel is then moved half a pixel by
    cubic interpolation.

    Parameters
    ----------
    patch_embed
        timm's ``PatchEmbed``; its convolution is replaced.
    stride
        A divisor of the patch size.

    Raises
    ------
    ConfigError
        The stride does not divide the patch size, or patches are not embedded by one convolution.
    """
    if not isinstance(patch_embed, PatchEmbed):
        raise ConfigError("this backbone has no plain patch embedding; leave --stride out")
    old = patch_embed.proj
    patch = old.kernel_size[0]
    if stride < 1 or patch % stride:
        allowed = ", ".join(str(n) for n in range(1, patch + 1) if patch % n == 0)
        raise ConfigError(f"stride {stride} does not divide the patch size; choose from {allowed}")
    weight = old.weight if (patch - stride) % 2 == 0 else _moved_half_a_pixel(old.weight)
    size = weight.shape[-1]
    new = nn.Conv2d(
        old.in_channels,
        old.out_channels,
        size,
        stride,
        padding=(size - stride) // 2,
        padding_mode="replicate",
        bias=old.bias is not None,
    )
    new.weight, new.bias = nn.Parameter(weight, requires_grad=False), old.bias
    patch_embed.proj = new


def _moved_half_a_pixel(weight: Tensor) -> Tensor:
    """Fold the half-pixel interpolation of the image into a kernel: (O, I, p, p) to p + 3."""
    taps = weight.new_tensor(_HALF_PIXEL)
    kernel = torch.outer(taps, taps)[None, None]
    planes = weight.reshape(-1, 1, *weight.shape[-2:])
    moved = F.conv2d(planes, kernel, padding=len(_HALF_PIXEL) - 1)
    return moved.reshape(*weight.shape[:2], *moved.shape[-2:])


def _resolve_layer(layer: int | None, depth: int) -> int:
    if layer is None:
        return depth - 1
    if not -depth <= layer < depth:
        raise ConfigError(f"layer {layer} is out of range; choose from {-depth} to {depth - 1}")
    return layer % depth


class _Projection(nn.Module):
    """Stands in for the last block: its keys, queries or values in place of its output."""

    def __init__(self, block: Any, facet: str) -> None:
        super().__init__()
        known = isinstance(block, Block | EvaBlock) and isinstance(
            block.attn, Attention | AttentionRope | EvaAttention
        )
        if not known:
            raise ConfigError(f"facet '{facet}' cannot be read from this backbone; choose token")
        self.norm: nn.Module = block.norm1
        self.attn: Any = block.attn
        self.index = _PROJECTIONS.index(facet)
        self.dim = len(self._weight())

    def forward(self, x: Tensor, *args: object, **kwargs: object) -> Tensor:
        projected = F.linear(self.norm(x), self._weight(), self._bias())
        norm = (self.attn.q_norm, self.attn.k_norm, nn.Identity())[self.index]
        return norm(projected.unflatten(-1, (self.attn.num_heads, -1))).flatten(-2)

    def _weight(self) -> Tensor:
        if self.attn.qkv is None:
            return self._separate().weight
        return self.attn.qkv.weight.chunk(3)[self.index]

    def _bias(self) -> Tensor | None:
        attn = self.attn
        if attn.qkv is None:
            return self._separate().bias
        if attn.qkv.bias is not None:
            return attn.qkv.bias.chunk(3)[self.index]
        if getattr(attn, "q_bias", None) is not None:  # EvaAttention keeps them beside the matrix
            return (attn.q_bias, attn.k_bias, attn.v_bias)[self.index]
        return None

    def _separate(self) -> nn.Linear:
        return (self.attn.q_proj, self.attn.k_proj, self.attn.v_proj)[self.index]
