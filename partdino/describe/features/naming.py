"""Meta's names of DINO, DINOv2 and DINOv3 tensors, translated to timm's.

DINO v1 needs no translation. Each function takes and returns a flat state dict.
"""

from __future__ import annotations

import re
from math import isqrt
from typing import Any

import torch
from torch import Tensor

State = dict[str, Tensor]

# DINOv2-giant packs gate and value in `w12`, as timm's packed SwiGLU does in `fc1`.
_DINOV2 = (("mlp.w12.", "mlp.fc1."), ("mlp.w3.", "mlp.fc2."))
_DINOV3 = (
    ("ls1.gamma", "gamma_1"),
    ("ls2.gamma", "gamma_2"),
    ("mlp.w1.", "mlp.fc1_g."),
    ("mlp.w2.", "mlp.fc1_x."),
    ("mlp.w3.", "mlp.fc2."),
)
_CONVNEXT = (
    (r"^downsample_layers\.0\.", "stem."),
    (r"^downsample_layers\.(\d+)\.", r"stages.\1.downsample."),
    (r"^stages\.(\d+)\.(\d+)\.", r"stages.\1.blocks.\2."),
    (r"\.dwconv\.", ".conv_dw."),
    (r"\.pwconv([12])\.", r".mlp.fc\1."),
    (r"^norm\.", "head.norm."),
)


def to_timm(state: State) -> tuple[State, dict[str, Any]]:
    """Translate a checkpoint in Meta's naming to timm's.

    Parameters
    ----------
    state
        Tensors by name. One in another naming comes back as it is.

    Returns
    -------
    state
        The same tensors under timm's names, without those that inference does not use.
    options
        Keyword arguments of `timm.create_model` that the tensors call for.
    """
    options: dict[str, Any] = {}
    if "storage_tokens" in state:
        state, options = _dinov3(state)
    elif "downsample_layers.0.0.weight" in state:
        state = _convnext(state)
    elif "mask_token" in state or "register_tokens" in state:
        state = _dinov2(state)
    return state, options | _position_grid(state)


def told_apart(state: State, names: list[str]) -> list[str]:
    """Return those of some short names of one architecture that a checkpoint can be.

    Parameters
    ----------
    state
        Tensors by name, as they are in the file.
    names
        Short names of models that differ in their weights alone.

    Notes
    -----
    DINOv3's ViT-L/16 was trained on photos of the web, and on satellite images with a second norm
    for the class tokens of small crops (`dinov3/hub/backbones.py`). Both of the 7B have that norm,
    and timm's own files leave it out.
    """
    if "dinov3-l16" in names and "storage_tokens" in state:
        satellite = "local_cls_norm.weight" in state
        return ["dinov3-l16-sat" if satellite else "dinov3-l16"]
    return names


def _dinov2(state: State) -> State:
    renamed = {_replace(name, _DINOV2): tensor for name, tensor in state.items()}
    renamed.pop("mask_token", None)  # stands for masked patches in training only
    if "register_tokens" in renamed:
        # timm keeps the class token's position embedding inside the class token here.
        renamed["reg_token"] = renamed.pop("register_tokens")
        position = renamed["pos_embed"]
        renamed["cls_token"] = renamed["cls_token"] + position[:, :1]
        renamed["pos_embed"] = position[:, 1:]
    return renamed


def _dinov3(state: State) -> tuple[State, dict[str, Any]]:
    unused = ("mask_token", "rope_embed.periods", "local_cls_norm.weight", "local_cls_norm.bias")
    renamed = {
        _replace(name, _DINOV3): _masked(name, tensor, state)
        for name, tensor in state.items()
        if name not in unused and not name.endswith(".bias_mask")
    }
    renamed["reg_token"] = renamed.pop("storage_tokens")
    biases = [name for name in renamed if name.endswith("attn.qkv.bias")]
    if any(renamed[name].any() for name in biases):
        # timm's "eva" attention holds no bias for keys; its "rope" attention holds all three.
        return renamed, {"attn_type": "rope", "qkv_bias": True}
    # Meta's own distilled models have biases of zero: the plain models of timm, and of its hub.
    return {name: renamed[name] for name in renamed.keys() - set(biases)}, {"qkv_bias": False}


def _masked(name: str, tensor: Tensor, state: State) -> Tensor:
    """Zero the key third of a qkv bias where the checkpoint has a mask for it, as Meta's model."""
    if not name.endswith("attn.qkv.bias") or f"{name}_mask" not in state:
        return tensor
    query, key, value = tensor.chunk(3)
    return torch.cat([query, torch.zeros_like(key), value])


def _convnext(state: State) -> State:
    # `norms.3` is the final norm under a second name.
    aliases = {f"norms.3.{part}" for part in ("weight", "bias")}
    kept = {
        name: tensor
        for name, tensor in state.items()
        if not (name in aliases and torch.equal(tensor, state["norm" + name[len("norms.3") :]]))
    }
    for pattern, replacement in _CONVNEXT:
        kept = {re.sub(pattern, replacement, name): tensor for name, tensor in kept.items()}
    return kept


def _position_grid(state: State) -> dict[str, int]:
    """Return the image size for which the file's position embedding was made.

    The grid of the file decides, rather than the model's usual one, so that the tensor is loaded as
    it is; it is resampled only once, to the grid of each input.
    """
    position, patch = state.get("pos_embed"), state.get("patch_embed.proj.weight")
    if position is None or patch is None or position.ndim != 3 or patch.ndim != 4:
        return {}
    tokens = position.shape[1]
    for prefix in (0, 1, 2):
        side = isqrt(max(tokens - prefix, 0))
        if side > 0 and side * side == tokens - prefix:
            return {"img_size": side * patch.shape[-1]}
    return {}


def _replace(name: str, pairs: tuple[tuple[str, str], ...]) -> str:
    for old, new in pairs:
        name = name.replace(old, new)
    return name
