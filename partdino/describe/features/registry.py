"""The names of the backbones: short names of the DINO family, and any name that timm knows."""

from __future__ import annotations

from difflib import get_close_matches

import timm

from partdino.errors import ConfigError

AUTO = "auto"
PREFERRED = "dinov2-s14"
EMBEDDED = "efficientnet-lite2"

SHORT_NAMES = {
    "dino-s16": "vit_small_patch16_224.dino",
    "dino-s8": "vit_small_patch8_224.dino",
    "dino-b16": "vit_base_patch16_224.dino",
    "dino-b8": "vit_base_patch8_224.dino",
    "dinov2-s14": "vit_small_patch14_dinov2.lvd142m",
    "dinov2-b14": "vit_base_patch14_dinov2.lvd142m",
    "dinov2-l14": "vit_large_patch14_dinov2.lvd142m",
    "dinov2-g14": "vit_giant_patch14_dinov2.lvd142m",
    "dinov2-s14-reg": "vit_small_patch14_reg4_dinov2.lvd142m",
    "dinov2-b14-reg": "vit_base_patch14_reg4_dinov2.lvd142m",
    "dinov2-l14-reg": "vit_large_patch14_reg4_dinov2.lvd142m",
    "dinov2-g14-reg": "vit_giant_patch14_reg4_dinov2.lvd142m",
    "dinov3-s16": "vit_small_patch16_dinov3.lvd1689m",
    "dinov3-s16plus": "vit_small_plus_patch16_dinov3.lvd1689m",
    "dinov3-b16": "vit_base_patch16_dinov3.lvd1689m",
    "dinov3-l16": "vit_large_patch16_dinov3.lvd1689m",
    "dinov3-h16plus": "vit_huge_plus_patch16_dinov3.lvd1689m",
    "dinov3-7b16": "vit_7b_patch16_dinov3.lvd1689m",
    "dinov3-l16-sat": "vit_large_patch16_dinov3.sat493m",
    "dinov3-7b16-sat": "vit_7b_patch16_dinov3.sat493m",
    "dinov3-convnext-tiny": "convnext_tiny.dinov3_lvd1689m",
    "dinov3-convnext-small": "convnext_small.dinov3_lvd1689m",
    "dinov3-convnext-base": "convnext_base.dinov3_lvd1689m",
    "dinov3-convnext-large": "convnext_large.dinov3_lvd1689m",
    EMBEDDED: "tf_efficientnet_lite2",
}

# timm's modules whose models are plain vision transformers: blocks, prefix tokens, one patch grid.
_VIT_MODULES = ("vision_transformer", "vision_transformer_hybrid", "eva", "deit")


def timm_name(name: str) -> str:
    """Return timm's name of a backbone.

    Parameters
    ----------
    name
        A key of `SHORT_NAMES`, or a name of timm with or without the tag of its weights.

    Returns
    -------
    str
        timm's name, tag included where one was given.

    Raises
    ------
    ConfigError
        Neither Part-DINO nor timm knows the name, where the message suggests the nearest ones; or
        the installed timm is too old for it.
    """
    if name in SHORT_NAMES:
        if not timm.is_model(SHORT_NAMES[name]):
            raise ConfigError(
                f"timm {timm.__version__} has no {name}; `pip install -U timm`, or choose another "
                "--backbone"
            )
        return SHORT_NAMES[name]
    tagged = "." in name
    if timm.is_model(name) and (not tagged or name in timm.list_pretrained()):
        return name
    known = [*SHORT_NAMES, *timm.list_models(), *timm.list_pretrained()]
    near = get_close_matches(name, SHORT_NAMES, n=3, cutoff=0.5) or get_close_matches(name, known)
    hint = f"did you mean {', '.join(near)}?" if near else f"known are {', '.join(SHORT_NAMES)}"
    raise ConfigError(f"no backbone is called '{name}'; {hint} (any name of timm works too)")


def is_vit(timm_name: str) -> bool:
    """Tell whether a model of timm is a vision transformer whose facets can be read."""
    return timm.models.is_model_in_modules(timm_name, _VIT_MODULES)


def default_facet(timm_name: str) -> str:
    """Return the facet that describes parts best: keys for DINO v1, tokens for all others."""
    return "key" if timm_name.endswith(".dino") else "token"
