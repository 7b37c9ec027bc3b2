"""Names of backbones."""

from __future__ import annotations

import pytest
import timm

from partdino.describe.features.registry import SHORT_NAMES, default_facet, is_vit, timm_name
from partdino.errors import ConfigError


def test_every_short_name_is_a_model_of_timm_with_weights():
    pretrained = set(timm.list_pretrained())
    for short, name in SHORT_NAMES.items():
        assert timm.is_model(name), short
        assert name in pretrained or short == "efficientnet-lite2", short


def test_all_dino_weights_of_timm_have_a_short_name():
    # timm's `_qkvb` variants hold the same weights with biases of zero.
    tags = ("*.dino", "*_dinov2.*", "*_dinov3.*", "convnext*.dinov3*")
    theirs = {name for tag in tags for name in timm.list_pretrained(tag)}
    theirs = {name for name in theirs if not name.startswith(("resmlp", "lingbot"))}
    assert theirs == {n for s, n in SHORT_NAMES.items() if s.startswith("dino")}


def test_names_of_timm_pass_with_and_without_tag():
    for name in ("resnet50", "resnet50.a1_in1k", "vit_small_patch14_dinov2"):
        assert timm_name(name) == name


@pytest.mark.parametrize(
    "wrong, suggestion",
    [
        ("dinov2-s16", "dinov2-s14"),
        ("dinov3-convnet-tiny", "dinov3-convnext-tiny"),
        ("vit_small_patch16_dino3", "vit_small_patch16_dinov3"),
        ("resnet50.a9_in1k", "resnet50.a"),
        ("nonsense-qqq", "known are dino-s16"),
    ],
)
def test_a_wrong_name_gets_suggestions(wrong, suggestion):
    with pytest.raises(ConfigError, match=suggestion):
        timm_name(wrong)


def test_facets_by_default():
    assert default_facet(timm_name("dino-b8")) == "key"
    for name in ("dinov2-g14-reg", "dinov3-s16", "dinov3-convnext-tiny", "efficientnet-lite2"):
        assert default_facet(timm_name(name)) == "token"


def test_vision_transformers_are_told_from_convnets():
    for short, name in SHORT_NAMES.items():
        assert is_vit(name) == ("convnext" not in short and "efficientnet" not in short)
