"""Weights files: every wrapping loads to the same tensors, and nothing else loads."""

from __future__ import annotations

import argparse
import pickle
import re
from pathlib import Path

import pytest
import timm
import torch
from meta_reference import Design, random_checkpoint
from safetensors.torch import save_file

from partdino.describe.features import loading
from partdino.describe.features.checkpoint import read_state_dict, state_sha256
from partdino.describe.features.loading import load_model, recognise, resolve_backbone
from partdino.describe.features.naming import told_apart
from partdino.errors import WeightsError

DESIGN = Design("v1", patch=16, grid=14)


@pytest.fixture(scope="module")
def state() -> dict[str, torch.Tensor]:
    return random_checkpoint(DESIGN)


@pytest.fixture(scope="module")
def plain(state, tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("plain") / "dino_deitsmall16_pretrain.pth"
    torch.save(state, file)
    yield file
    file.unlink()


def training_checkpoint(state: dict[str, torch.Tensor]) -> dict:
    """What DINO's training script saves: `dino_deitsmall16_pretrain_full_checkpoint.pth`."""
    head = {"head.mlp.0.weight": torch.ones(4, 4), "head.last_layer.weight_g": torch.ones(4, 1)}
    teacher = {f"backbone.{k}": v for k, v in state.items()} | head
    student = {f"module.{k}": torch.zeros_like(v) for k, v in teacher.items()}
    return {
        "student": student,
        "teacher": teacher,
        "optimizer": {"state": {}, "param_groups": [{"lr": 0.1}]},
        "epoch": 100,
        "args": argparse.Namespace(arch="deit_small", patch_size=16),
        "dino_loss": {"center": torch.zeros(1, 4)},
    }


def test_every_wrapping_gives_the_same_tensors(state, tmp_path):
    full = training_checkpoint(state)
    wrapped = {
        "full": full,
        "student": {"student": {f"module.backbone.{k}": v for k, v in state.items()}},
        "parallel": {"state_dict": {f"module.{k}": v for k, v in state.items()}, "epoch": 3},
        "average": {"state_dict": {}, "state_dict_ema": state},
        "nested": {"model": {"state_dict": state}},
    }
    chunked = {
        re.sub(r"^blocks\.(\d+)\.", lambda m: f"blocks.{int(m[1]) // 4}.{m[1]}.", k): v
        for k, v in state.items()
    }
    other = {k: torch.zeros_like(v) for k, v in chunked.items()}
    head = {"dino_head.last_layer.weight": torch.ones(4, 4)}
    wrapped["DINOv2 teacher"] = {"teacher": {f"backbone.{k}": v for k, v in chunked.items()} | head}
    wrapped["DINOv2 run"] = {
        "model": {
            **{f"student.backbone.{k}": v for k, v in other.items()},
            **{f"teacher.backbone.{k}": v for k, v in chunked.items()},
            **{f"teacher.{k}": v for k, v in head.items()},
        },
        "iteration": 1,
    }
    for prefix in (
        "_orig_mod.",
        "module._orig_mod.",
        "_orig_mod.module.backbone.",
        "model.module.",
    ):
        wrapped[prefix] = {"state_dict": {f"{prefix}{k}": v for k, v in state.items()}}
    inner = re.compile(r"^(blocks\.\d+\.)")
    wrapped["FSDP"] = {
        inner.sub(r"\1_checkpoint_wrapped_module.", f"{k}"): v for k, v in state.items()
    }
    for name, content in wrapped.items():
        file = tmp_path / f"{name}.pth"
        torch.save(content, file)
        loaded = read_state_dict(file)
        file.unlink()
        assert loaded.keys() == state.keys(), name
        assert all(torch.equal(loaded[k], state[k]) for k in state), name


def test_blocks_counted_in_each_stage_keep_their_names(tmp_path):
    """As EfficientNets have them: DINOv2 counts its chunks' blocks through."""
    state = {
        f"blocks.{stage}.{block}.conv_dw.weight": torch.full((2,), 10.0 * stage + block)
        for stage, block in ((0, 0), (1, 0), (1, 1))
    }
    torch.save(state, file := tmp_path / "stages.pth")
    loaded = read_state_dict(file)
    assert loaded.keys() == state.keys()
    assert all(torch.equal(loaded[name], state[name]) for name in state)


def test_a_checkpoint_of_heads_alone_is_refused(tmp_path):
    file = tmp_path / "head.pth"
    head = {"dino_head.mlp.0.weight": torch.ones(4, 4), "ibot_head.mlp.0.weight": torch.ones(4)}
    for content in ({"teacher": head}, {"model": {f"teacher.{k}": v for k, v in head.items()}}):
        torch.save(content, file)
        with pytest.raises(WeightsError, match=f"{file} holds no backbone, only dino_head; pass"):
            read_state_dict(file)


def test_the_identity_depends_on_the_tensors_alone(state, plain, tmp_path):
    model, identity = load_model("dino-s16", plain)
    assert identity.source == str(plain)
    assert identity.sha256 == state_sha256(model)
    other_file = tmp_path / "timm_naming.safetensors"
    save_file(state | {"head.weight": torch.ones(10, 384), "head.bias": torch.ones(10)}, other_file)
    assert load_model("dino-s16", other_file)[1].sha256 == identity.sha256
    assert load_model("vit_small_patch16_224", other_file)[1].sha256 == identity.sha256
    torch.save(state | {"norm.bias": state["norm.bias"] + 1e-6}, other_file.with_suffix(".pth"))
    assert load_model("dino-s16", other_file.with_suffix(".pth"))[1].sha256 != identity.sha256


def test_the_files_position_grid_is_kept(state, tmp_path):
    smaller = state | {"pos_embed": torch.randn(1, 1 + 6 * 6, 384)}
    file = tmp_path / "trained_at_96_pixels.pth"
    torch.save(smaller, file)
    model, _ = load_model("dino-s16", file)
    assert torch.equal(model.pos_embed, smaller["pos_embed"])
    assert model.patch_embed.grid_size == (6, 6)


def test_another_backbones_file_is_named(plain):
    with pytest.raises(WeightsError, match="looks like dino-s16: pass --backbone dino-s16") as info:
        load_model("dinov2-s14", plain)
    message = str(info.value)
    assert str(plain) in message and "blocks.0.ls1.gamma" in message and "\n" not in message


@pytest.mark.parametrize("other", ["dino-s8", "dino-b16", "dinov3-s16", "efficientnet-lite2"])
def test_a_file_never_loads_into_another_backbone(plain, other):
    with pytest.raises(WeightsError, match="does not fit"):
        load_model(other, plain)


def test_a_missing_or_an_unknown_tensor_is_refused(state, tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "SHORT_NAMES", {})  # the search for a fitting backbone takes long
    file = tmp_path / "edited.pth"
    torch.save({k: v for k, v in state.items() if k != "blocks.7.norm1.bias"}, file)
    with pytest.raises(WeightsError, match=r"1 tensors missing \(such as blocks.7.norm1.bias\)"):
        load_model("dino-s16", file)
    torch.save(state | {"blocks.12.norm1.bias": torch.ones(384)}, file)
    with pytest.raises(WeightsError, match=r"1 tensors unknown \(such as blocks.12.norm1.bias\)"):
        load_model("dino-s16", file)
    torch.save(state | {"norm.bias": torch.ones(383)}, file)
    with pytest.raises(WeightsError, match=r"1 tensors of another shape \(such as norm.bias\)"):
        load_model("dino-s16", file)


def test_auto_recognises_a_file(plain, tmp_path, monkeypatch):
    name, reason = resolve_backbone("auto", plain)
    assert name == "dino-s16" and plain.name in reason
    monkeypatch.setattr(loading, "SHORT_NAMES", {"dino-s8": "vit_small_patch8_224.dino"})
    unknown = tmp_path / "unknown.pth"
    torch.save({"weight": torch.ones(2)}, unknown)
    with pytest.raises(WeightsError, match="cannot tell which backbone"):
        resolve_backbone("auto", unknown)


def empty(architecture: str) -> dict[str, torch.Tensor]:
    with torch.device("meta"):
        return timm.create_model(architecture, num_classes=0).state_dict()


def test_weights_of_several_trainings_are_told_apart_or_not():
    assert recognise(empty("vit_large_patch16_dinov3")) == ["dinov3-l16", "dinov3-l16-sat"]
    web = random_checkpoint(Design("v3", 16, 0, 1024, 16, 24, 4096))
    assert recognise(web) == ["dinov3-l16"]
    norm = {f"local_cls_norm.{part}": torch.ones(1024) for part in ("weight", "bias")}
    assert recognise(web | norm) == ["dinov3-l16-sat"]
    # Both of the 7B have that norm.
    both = ["dinov3-7b16", "dinov3-7b16-sat"]
    assert recognise(empty("vit_7b_patch16_dinov3")) == both
    assert told_apart(web | norm, both) == both


def test_a_name_that_stays_ambiguous_is_asked_for(tmp_path, monkeypatch):
    file = tmp_path / "large.safetensors"
    save_file({"weight": torch.ones(2)}, file)
    monkeypatch.setattr(loading, "recognise", lambda state: ["dinov3-l16", "dinov3-l16-sat"])
    with pytest.raises(WeightsError, match=r"dinov3-l16 or dinov3-l16-sat.*name it"):
        resolve_backbone("auto", file)


class Evil:
    """Runs code when unpickled without care."""

    def __init__(self, trace: Path):
        self.trace = trace

    def __reduce__(self):
        return Path.touch, (self.trace,)


def test_code_in_a_checkpoint_is_not_run(tmp_path):
    trace = tmp_path / "trace"
    file = tmp_path / "evil.pth"
    torch.save({"state_dict": {"a": Evil(trace)}}, file)
    with pytest.raises(WeightsError, match="needs code"):
        read_state_dict(file)
    assert not trace.exists()


def test_what_is_no_weights_file_says_so(state, tmp_path):
    text = tmp_path / "text.pth"
    text.write_text("not a checkpoint")
    truncated = tmp_path / "truncated.pth"
    torch.save({"a": torch.ones(1000)}, truncated)
    truncated.write_bytes(truncated.read_bytes()[:2000])
    damaged = tmp_path / "damaged.safetensors"
    damaged.write_bytes(b"\x00" * 100)
    empty = tmp_path / "empty.pth"
    empty.touch()
    other = tmp_path / "other.pth"
    torch.save([1, 2, 3], other)
    nothing = tmp_path / "nothing.pth"
    torch.save({}, nothing)
    pickled = tmp_path / "pickled.pth"
    pickled.write_bytes(pickle.dumps({"a": 1}, protocol=2))
    for file in (text, truncated, damaged, empty, other, nothing, pickled, tmp_path / "absent.pth"):
        with pytest.raises(WeightsError) as info:
            read_state_dict(file)
        assert str(file) in str(info.value) and "\n" not in str(info.value)
    with pytest.raises(WeightsError):
        read_state_dict(tmp_path)


def test_a_classifier_of_another_size_is_passed_over(tmp_path):
    torch.manual_seed(0)
    trained = timm.create_model("resnet18", num_classes=7)
    file = tmp_path / "finetuned.safetensors"
    save_file(trained.state_dict(), file)
    model, _ = load_model("resnet18", file)
    assert torch.equal(model.layer4[1].conv2.weight, trained.layer4[1].conv2.weight)
