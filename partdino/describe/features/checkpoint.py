"""Weights files: read them without running code, compare them with a model, hash them."""

from __future__ import annotations

import argparse
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from partdino.errors import WeightsError

# Where training scripts put the weights, best first: DINO distils from student to teacher, timm
# and others keep a moving average.
_CONTAINERS = ("teacher", "state_dict_ema", "model_ema", "state_dict", "model", "student")
# What they put before the names of a network inside a larger one, best first.
_PREFIXES = ("teacher.", "model_ema.", "student.", "model.", "backbone.")
# What torch's own wrappers put before names, and inside them.
_WRAPPERS = re.compile(
    r"^((module|_orig_mod|_fsdp_wrapped_module)\.)+"
    r"|(?<=\.)((_orig_mod|_fsdp_wrapped_module|_checkpoint_wrapped_module)\.)+"
)
# DINOv2 trains in chunks of blocks, and counts the blocks through.
_CHUNK = re.compile(r"^blocks\.\d+\.(\d+\.)")
_HEADS = re.compile(r"^\w*(head|loss|classifier)\w*\.")


@dataclass(frozen=True)
class WeightsIdentity:
    """Which weights a backbone runs on.

    Attributes
    ----------
    source
        Where they came from: a path, or ``hub:`` and a repository.
    sha256
        Over the loaded model's tensors in order of name: name, dtype, shape and bytes. Equal for
        equal weights, whatever file they came in.
    """

    source: str
    sha256: str


def read_state_dict(path: Path) -> dict[str, Tensor]:
    """Read the tensors of a ``.safetensors`` file or of a PyTorch checkpoint.

    Training checkpoints are unwrapped: the teacher where there is one, without the prefixes of
    data parallelism (``module.``), of `torch.compile` (``_orig_mod.``) and of a backbone with a
    projection head (``backbone.``; the head is left out), and without DINOv2's chunks of blocks.

    Parameters
    ----------
    path
        The file. PyTorch files are read with ``weights_only=True``.

    Returns
    -------
    dict
        Tensors by name, in the file's order, on the CPU.

    Raises
    ------
    WeightsError
        The file is missing, unreadable, needs code to be read, or holds no named tensors, or
        those of projection heads alone.
    """
    content = _read(path)
    while isinstance(content, Mapping):
        containers = (content.get(key) for key in _CONTAINERS)
        inner = next((value for value in containers if isinstance(value, Mapping)), None)
        if inner is None:
            break
        content = inner
    is_state = isinstance(content, Mapping) and all(isinstance(v, Tensor) for v in content.values())
    if not is_state or not content:
        raise WeightsError(f"{path} holds no state dict (tensors by name); pass a weights file")
    state = _unwrapped(content)
    if all(_HEADS.match(name) for name in state):
        head = next(iter(state)).partition(".")[0]
        raise WeightsError(
            f"{path} holds no backbone, only {head}; pass a file with the network's weights"
        )
    return state


def misfit(model: nn.Module, state: Mapping[str, Tensor]) -> str:
    """Say what keeps ``state`` from being loaded strictly.

    Parameters
    ----------
    model
        A model, which may be on the meta device.
    state
        Tensors by name.

    Returns
    -------
    str
        The counts of tensors that are missing, unknown or of another shape, each with an example;
        empty where every tensor of the model is there and nothing else.
    """
    expected = model.state_dict()
    missing = [name for name in expected if name not in state]
    unknown = [name for name in state if name not in expected]
    misshapen = [n for n in expected if n in state and expected[n].shape != state[n].shape]
    groups = ((missing, "missing"), (unknown, "unknown"), (misshapen, "of another shape"))
    return ", ".join(f"{len(n)} tensors {what} (such as {n[0]})" for n, what in groups if n)


def without_classifier(model: Any, state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Leave out the tensors of a classification head that the model was built without."""
    heads = model.pretrained_cfg.get("classifier") or ()
    heads = (heads,) if isinstance(heads, str) else heads
    unused = {f"{head}.{part}" for head in heads for part in ("weight", "bias")}
    unused -= model.state_dict().keys()
    return {name: tensor for name, tensor in state.items() if name not in unused}


def state_sha256(model: nn.Module) -> str:
    """Hash a model's state dict as `WeightsIdentity` describes."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy())
    rope = getattr(model, "rope", None)  # timm does not count its periods among the tensors
    if rope is not None and hasattr(rope, "periods"):
        usual = rope._compute_periods()
        if not torch.allclose(rope.periods, usual, rtol=1e-2):  # a file may hold them in bfloat16
            digest.update(rope.periods.numpy().tobytes())
    return digest.hexdigest()


def _read(path: Path) -> Any:
    if not path.is_file():
        raise WeightsError(f"weights file {path} does not exist; check --weights")
    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        # DINO's training checkpoints hold their arguments, a class without behaviour.
        torch.serialization.add_safe_globals([argparse.Namespace])
        return torch.load(path, map_location="cpu", weights_only=True)
    except UnpicklingError as error:
        raise WeightsError(
            f"{path} is no plain PyTorch checkpoint (damaged, or it needs code to be read, which is"
            " refused); save its state dict alone"
        ) from error
    except (OSError, RuntimeError, EOFError, ValueError, KeyError, SafetensorError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise WeightsError(f"cannot read weights file {path}: {reason}; fetch it again") from error


def _without_wrappers(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {_WRAPPERS.sub("", name): tensor for name, tensor in state.items()}


def _unwrapped(content: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors of the network that is wanted, under the names it gives them."""
    state = _without_wrappers(content)
    while prefix := next((p for p in _PREFIXES if any(k.startswith(p) for k in state)), None):
        inside = {k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)}
        state = _without_wrappers(inside)
    if all(_CHUNK.match(name) for name in state if name.startswith("blocks.")):
        counted = {_CHUNK.sub(r"blocks.\1", name): tensor for name, tensor in state.items()}
        if len(counted) == len(state):  # else each stage has a first block, as in EfficientNets
            return counted
    return state
