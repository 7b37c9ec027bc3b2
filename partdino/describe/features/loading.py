"""A timm model with weights in it: from the hub, from a file, or embedded."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import timm
import torch
from torch import Tensor, nn

from partdino import plugins
from partdino.describe import weights as packaged
from partdino.describe.features import hub
from partdino.describe.features.checkpoint import (
    WeightsIdentity,
    misfit,
    read_state_dict,
    state_sha256,
    without_classifier,
)
from partdino.describe.features.naming import to_timm, told_apart
from partdino.describe.features.registry import (
    AUTO,
    EMBEDDED,
    PREFERRED,
    SHORT_NAMES,
    is_vit,
    timm_name,
)
from partdino.errors import WeightsError


def resolve_backbone(name: str = AUTO, weights: Path | None = None) -> tuple[str, str]:
    """Choose the backbone.

    Parameters
    ----------
    name
        A name, or "auto": DINOv2-S where its weights are cached or the hub answers within seconds,
        else the embedded one.
    weights
        A weights file; "auto" then takes the backbone whose weights it holds.

    Returns
    -------
    name
        The backbone's name.
    reason
        One sentence for the user.

    Raises
    ------
    ConfigError
        The name is unknown.
    WeightsError
        "auto" cannot tell from the weights file which backbone it is for.
    """
    if name != AUTO:
        if not plugins.is_plugin("features", name):
            timm_name(name)
        return name, f"Backbone {name}."
    if weights is not None:
        found = recognise(read_state_dict(weights))
        if len(found) != 1:
            among = f" ({' or '.join(found)})" if found else ""
            raise WeightsError(
                f"cannot tell which backbone {weights} is for{among}; name it (--backbone)"
            )
        return found[0], f"Backbone {found[0]}: {weights.name} holds its weights."
    preferred = SHORT_NAMES[PREFERRED]
    if hub.cached(preferred):
        return PREFERRED, f"Backbone {PREFERRED}: its weights are in the hub's cache."
    if reason := hub.obstacle(preferred):
        cure = f"fetch it with `partdino weights pull {PREFERRED}`, or name --backbone {EMBEDDED}"
        reason = f"as {PREFERRED} is not to be had: {reason}. Parts will be coarser; {cure}"
        return EMBEDDED, f"Backbone {EMBEDDED}, {reason}."
    return PREFERRED, f"Backbone {PREFERRED}: the hub answers."


def load_model(name: str, weights: Path | None) -> tuple[nn.Module, WeightsIdentity]:
    """Build a backbone's model in timm and fill it.

    Parameters
    ----------
    name
        A short name, or a name of timm.
    weights
        A file in timm's or Meta's naming, loaded strictly; None for the hub, or the installed
        weights of the embedded backbone.

    Returns
    -------
    model
        In evaluation mode, float32, on the CPU.
    identity
        Which weights it holds.

    Raises
    ------
    ConfigError
        The name is unknown.
    WeightsError
        The weights cannot be had, or do not fit.
    """
    if weights is not None:
        model, source = _from_file(name, weights), str(weights)
    elif name == EMBEDDED:
        model, source = _from_file(name, packaged.path(EMBEDDED)), EMBEDDED
    else:
        model, source = _from_hub(name)
    model.eval().requires_grad_(False)
    for tensor_name, tensor in model.state_dict().items():
        if tensor.is_floating_point() and not tensor.isfinite().all():
            raise WeightsError(
                f"{source}: {tensor_name} holds what is no number (NaN or infinite); fetch or save "
                "the weights again"
            )
    return model, WeightsIdentity(source, state_sha256(model))


def _from_hub(name: str) -> tuple[nn.Module, str]:
    file = hub.fetch(timm_name(name))
    overlay = {"file": str(file)}
    try:
        model = _create(name, pretrained=True, pretrained_cfg_overlay=overlay)
    except Exception as error:  # a damaged file shows as any of several errors of timm and torch
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        known = f"replace it with `partdino weights pull {name}`"
        # Behind a link is what counts: the hub's client would link to the damaged file again.
        cure = known if name in SHORT_NAMES else f"delete {file.resolve()} to fetch it again"
        raise WeightsError(f"cannot load {file}: {reason}; {cure}") from error
    return model, f"hub:{hub.repository(timm_name(name))}{hub.commit(file)}"


def _from_file(name: str, path: Path) -> nn.Module:
    original = read_state_dict(path)
    state, options = to_timm(original)
    model = _create(name, **options)
    if name == EMBEDDED:
        state = _in_order(model, state)
    state = without_classifier(model, state)
    if problem := misfit(model, state):
        other = " or ".join(recognise(original))
        cure = f"it looks like {other}: pass --backbone {other}" if other else "pass another file"
        raise WeightsError(f"{path} does not fit {name}: {problem}; {cure}")
    model.load_state_dict(state)
    if (periods := original.get("rope_embed.periods")) is not None:
        # timm computes them anew, and does not count them among a model's tensors.
        cast(Any, model).rope.periods.copy_(periods.float())
    return model


def _create(name: str, **options: Any) -> nn.Module:
    """Build the model, with those of the options of `to_timm` that its class has."""
    architecture = timm_name(name)
    if is_vit(architecture):
        options["dynamic_img_size"] = True
    else:
        options.pop("img_size", None)
    if not timm.models.is_model_in_modules(architecture, ("eva",)):
        options.pop("attn_type", None)
        options.pop("qkv_bias", None)
    if name != EMBEDDED:  # whose file is whole with its classifier only
        options["num_classes"] = 0
    return timm.create_model(architecture, **options)


def _in_order(model: nn.Module, state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Give the embedded weights timm's names: theirs differ, but order and shapes are the same."""
    expected = model.state_dict()
    shapes = [tensor.shape for tensor in state.values()]
    if shapes != [tensor.shape for tensor in expected.values()]:
        return state
    return dict(zip(expected, state.values(), strict=True))


def recognise(state: dict[str, Tensor]) -> list[str]:
    """Return the short names whose model the tensors of a file fill, by names and shapes.

    Those are several where models differ in what they were trained on, and the tensors do not tell.
    """
    tensors, options = to_timm(state)
    for name in SHORT_NAMES:
        if not timm.is_model(SHORT_NAMES[name]):  # an older timm
            continue
        with torch.device("meta"):
            model = _create(name, **options)
        named = _in_order(model, tensors) if name == EMBEDDED else tensors
        if not misfit(model, without_classifier(model, named)):
            return told_apart(state, _alike(name))
    return []


def _alike(name: str) -> list[str]:
    """Return the short names of an architecture: its weights of several trainings."""
    architecture = SHORT_NAMES[name].partition(".")[0]
    return [name for name in SHORT_NAMES if SHORT_NAMES[name].partition(".")[0] == architecture]
