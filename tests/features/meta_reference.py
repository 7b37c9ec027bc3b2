"""DINO, DINOv2 and DINOv3 written down a second time, from the papers and Meta's released files.

Plain functions over a state dict in Meta's naming; nothing here uses timm or partdino.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

State = dict[str, Tensor]


@dataclass(frozen=True)
class Design:
    """A vision transformer of one of the four kinds: "v1", "v2", "v2-reg" or "v3"."""

    kind: str
    patch: int
    grid: int  # side of the position grid; unused by v3
    dim: int = 384
    heads: int = 6
    depth: int = 12
    hidden: int = 1536
    swiglu: bool = False

    @property
    def eps(self) -> float:
        return 1e-5 if self.kind == "v3" else 1e-6

    @property
    def registers(self) -> str | None:
        return {"v2-reg": "register_tokens", "v3": "storage_tokens"}.get(self.kind)

    @property
    def prefix(self) -> int:
        return 5 if self.registers else 1


def random_checkpoint(design: Design, seed: int = 0) -> State:
    """Random tensors under the names, and in the shapes, of Meta's released files.

    No bias or scale is trivial. The input to the first norm is small, so that its epsilon shows.
    """
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int, std: float = 0.02, mean: float = 0.0) -> Tensor:
        return torch.randn(shape, generator=generator) * std + mean

    d = design.dim
    state = {
        "cls_token": normal(1, 1, d),
        "patch_embed.proj.weight": normal(d, 3, design.patch, design.patch, std=0.001),
        "patch_embed.proj.bias": normal(d, std=0.01),
        "norm.weight": normal(d, std=0.1, mean=1),
        "norm.bias": normal(d, std=0.1),
    }
    if design.kind != "v3":
        state["pos_embed"] = normal(1, design.grid**2 + 1, d)
    if design.kind != "v1":
        state["mask_token"] = normal(1, d)
    if design.registers:
        state[design.registers] = normal(1, 4, d)
    if design.kind == "v3":
        state["rope_embed.periods"] = rope_periods(d // design.heads)
    for i in range(design.depth):
        block = f"blocks.{i}."
        for norm in ("norm1", "norm2"):
            state[f"{block}{norm}.weight"] = normal(d, std=0.1, mean=1)
            state[f"{block}{norm}.bias"] = normal(d, std=0.1)
        linears = {"attn.qkv": (3 * d, d), "attn.proj": (d, d)} | _mlp_shapes(design)
        for name, (rows, columns) in linears.items():
            state[f"{block}{name}.weight"] = normal(rows, columns, std=columns**-0.5)
            state[f"{block}{name}.bias"] = normal(rows, std=0.1)
        if design.kind != "v1":
            state[f"{block}ls1.gamma"] = normal(d, std=0.1, mean=0.3)
            state[f"{block}ls2.gamma"] = normal(d, std=0.1, mean=0.3)
        if design.kind == "v3":
            mask = torch.ones(3 * d)
            mask[d : 2 * d] = 0
            state[f"{block}attn.qkv.bias_mask"] = mask
    return state


def _mlp_shapes(design: Design) -> dict[str, tuple[int, int]]:
    d, h = design.dim, design.hidden
    if not design.swiglu:
        return {"mlp.fc1": (h, d), "mlp.fc2": (d, h)}
    if design.kind == "v3":
        return {"mlp.w1": (h, d), "mlp.w2": (h, d), "mlp.w3": (d, h)}
    return {"mlp.w12": (2 * h, d), "mlp.w3": (d, h)}


def embed(state: State, design: Design, pixels: Tensor, stride: int | None = None) -> Tensor:
    """Images (B, 3, H, W) to patch vectors (B, rows, columns, dim), without positions.

    With a stride below the patch size, the patch of a cell is centred on the cell, and the image
    continues beyond its border as it ends there. An odd margin makes patches start between pixels;
    values there are the cubic mean of the four nearest.
    """
    stride = stride or design.patch
    rows, columns = pixels.shape[-2] // stride, pixels.shape[-1] // stride
    margin = design.patch - stride
    pad = math.ceil(margin / 2)
    if margin % 2:
        pixels = F.pad(pixels, [pad + 1] * 4, mode="replicate")
        pixels = _between(_between(pixels, -1), -2)
    else:
        pixels = F.pad(pixels, [pad] * 4, mode="replicate")
    columns_of_patches = F.unfold(pixels, design.patch, stride=stride)
    weight = state["patch_embed.proj.weight"].flatten(1)
    tokens = columns_of_patches.transpose(1, 2) @ weight.T + state["patch_embed.proj.bias"]
    return tokens.unflatten(1, (rows, columns))


def _between(image: Tensor, axis: int) -> Tensor:
    n = image.shape[axis] - 3
    a, b, c, d = (image.narrow(axis, start, n) for start in range(4))
    return (9 * (b + c) - (a + d)) / 16


def forward(
    state: State, design: Design, pixels: Tensor, stride: int | None = None
) -> list[dict[str, Tensor]]:
    """Return, for every block, its facets as grids (B, rows, columns, dim)."""
    patches = embed(state, design, pixels, stride)
    batch, rows, columns, dim = patches.shape
    x = _with_prefix_and_positions(state, design, patches)
    rope = rope_tables(rows, columns, dim // design.heads) if design.kind == "v3" else None

    def grid(tokens: Tensor) -> Tensor:
        return tokens[:, design.prefix :].reshape(batch, rows, columns, dim)

    layers = []
    for i in range(design.depth):
        block = {k.removeprefix(f"blocks.{i}."): v for k, v in state.items() if f"blocks.{i}." in k}
        qkv = layer_norm(x, block, "norm1", design.eps) @ block["attn.qkv.weight"].T
        qkv = qkv + block["attn.qkv.bias"] * block.get("attn.qkv.bias_mask", torch.ones(()))
        query, key, value = qkv.split(dim, dim=-1)
        facets = {"query": grid(query), "key": grid(key), "value": grid(value)}
        attended = attention(query, key, value, design, rope)
        attended = attended @ block["attn.proj.weight"].T + block["attn.proj.bias"]
        x = x + attended * block.get("ls1.gamma", torch.ones(()))
        hidden = mlp(layer_norm(x, block, "norm2", design.eps), block)
        x = x + hidden * block.get("ls2.gamma", torch.ones(()))
        layers.append(facets | {"token": grid(layer_norm(x, state, "norm", design.eps))})
    return layers


def _with_prefix_and_positions(state: State, design: Design, patches: Tensor) -> Tensor:
    batch, rows, columns, dim = patches.shape
    class_token = state["cls_token"]
    if design.kind != "v3":
        position = state["pos_embed"]
        class_token = class_token + position[:, :1]
        smooth = design.kind == "v2-reg"
        patches = patches + position_grid(position[:, 1:], design.grid, rows, columns, smooth)
    parts = [class_token.expand(batch, -1, -1)]
    if design.registers:
        parts.append(state[design.registers].expand(batch, -1, -1))
    return torch.cat([*parts, patches.reshape(batch, rows * columns, dim)], dim=1)


def position_grid(position: Tensor, side: int, rows: int, columns: int, smooth: bool) -> Tensor:
    """Resample (1, side * side, dim) to (1, rows, columns, dim).

    Models with registers: antialiased, at the centres of the cells. Others: by the plain cubic
    convolution, as if the grid were a tenth of a cell larger.
    """
    square = position.reshape(1, side, side, -1).permute(0, 3, 1, 2)
    if (rows, columns) != (side, side) and not smooth:
        down, across = cubic_weights(side, rows), cubic_weights(side, columns)
        square = torch.einsum("rs,bdst,ct->bdrc", down, square, across)
    elif (rows, columns) != (side, side):
        square = F.interpolate(
            square, (rows, columns), mode="bicubic", align_corners=False, antialias=True
        )
    return square.permute(0, 2, 3, 1)


def cubic_weights(side: int, count: int) -> Tensor:
    """(count, side): where Meta's scale of (count + 0.1) / side puts each sample; a = -0.75."""

    def kernel(x: float) -> float:
        x, a = abs(x), -0.75
        if x <= 1:
            return (a + 2) * x**3 - (a + 3) * x**2 + 1
        return a * (x**3 - 5 * x**2 + 8 * x - 4) if x < 2 else 0.0

    weights = torch.zeros(count, side, dtype=torch.float64)
    for row in range(count):
        place = (row + 0.5) * side / (count + 0.1) - 0.5
        first = math.floor(place)
        for cell in range(first - 1, first + 3):
            weights[row, min(max(cell, 0), side - 1)] += kernel(place - cell)
    return weights.float()


def attention(
    query: Tensor, key: Tensor, value: Tensor, design: Design, rope: tuple[Tensor, Tensor] | None
) -> Tensor:
    q, k, v = (t.unflatten(-1, (design.heads, -1)).transpose(1, 2) for t in (query, key, value))
    if rope is not None:
        q, k = rotate(q, design.prefix, *rope), rotate(k, design.prefix, *rope)
    weights = F.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1)
    return (weights @ v).transpose(1, 2).flatten(-2)


def mlp(x: Tensor, block: State) -> Tensor:
    def linear(name: str, x: Tensor) -> Tensor:
        return x @ block[f"mlp.{name}.weight"].T + block[f"mlp.{name}.bias"]

    if "mlp.fc1.weight" in block:
        return linear("fc2", F.gelu(linear("fc1", x)))
    if "mlp.w12.weight" in block:
        gate, content = linear("w12", x).chunk(2, dim=-1)
    else:
        gate, content = linear("w1", x), linear("w2", x)
    return linear("w3", gate * torch.sigmoid(gate) * content)


def layer_norm(x: Tensor, state: State, name: str, eps: float) -> Tensor:
    centred = x - x.mean(-1, keepdim=True)
    scale = torch.rsqrt(centred.square().mean(-1, keepdim=True) + eps)
    return centred * scale * state[f"{name}.weight"] + state[f"{name}.bias"]


def rope_periods(head_dim: int) -> Tensor:
    return 100.0 ** (torch.arange(head_dim // 4) * 2 / (head_dim / 2))


def rope_tables(rows: int, columns: int, head_dim: int) -> tuple[Tensor, Tensor]:
    """Sine and cosine (rows * columns, head_dim) of DINOv3's axial rotary embedding."""
    y = 2 * (torch.arange(rows) + 0.5) / rows - 1
    x = 2 * (torch.arange(columns) + 0.5) / columns - 1
    coordinates = torch.stack(torch.meshgrid(y, x, indexing="ij"), dim=-1).reshape(-1, 2, 1)
    angles = (2 * math.pi * coordinates / rope_periods(head_dim)).flatten(1).repeat(1, 2)
    return angles.sin(), angles.cos()


def rotate(heads: Tensor, prefix: int, sin: Tensor, cos: Tensor) -> Tensor:
    still, moving = heads[:, :, :prefix], heads[:, :, prefix:]
    first, second = moving.chunk(2, dim=-1)
    return torch.cat([still, moving * cos + torch.cat([-second, first], -1) * sin], dim=2)
