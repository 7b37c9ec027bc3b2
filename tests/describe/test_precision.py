"""Which number format the networks compute in, and who knows of it."""

from __future__ import annotations

import json

import pytest
import torch
from segment_runs import SMALL, label_bytes

from partdino.describe import devices
from partdino.describe.devices import has_bf16
from partdino.describe.settling import settle
from partdino.options import validate


def of_cpu(monkeypatch: pytest.MonkeyPatch, **capabilities: bool) -> None:
    """Let torch say that the CPU has these capabilities."""
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities, raising=False)


@pytest.mark.parametrize("name", ["avx512_bf16", "amx_bf16"])
def test_bf16_is_where_products_of_it_are(monkeypatch, name):
    of_cpu(monkeypatch, avx512_f=True, **{name: True})
    assert has_bf16()
    of_cpu(monkeypatch, avx512_f=True, **{name: False})
    assert not has_bf16()


def test_a_torch_that_does_not_tell(monkeypatch):
    monkeypatch.delattr(torch.cpu, "get_capabilities", raising=False)
    assert not has_bf16()


@pytest.mark.parametrize(
    ("asked", "has", "settled"),
    [
        ({}, True, "bf16"),
        ({}, False, "fp32"),
        ({"precision": "auto"}, True, "bf16"),
        ({"precision": "fp32"}, True, "fp32"),
        ({"precision": "bf16"}, False, "bf16"),
    ],
)
def test_auto_takes_what_the_cpu_has(monkeypatch, asked, has, settled):
    monkeypatch.setattr(devices, "has_bf16", lambda: has)
    backbone, options, _ = settle(validate({**SMALL, "device": "cpu", **asked}))
    assert options.precision == backbone.precision == settled
    assert options.values()["precision"] == settled


def test_other_devices_compute_in_fp32(monkeypatch):
    monkeypatch.setattr(devices, "has_bf16", lambda: True)
    _, options, _ = settle(validate({**SMALL, "device": "meta"}))
    assert options.precision == "fp32"


def test_a_run_says_its_precision_and_its_model_labels_in_any(
    partdino, photo_folder, tmp_path, monkeypatch
):
    given = [f"--{name.replace('_', '-')}={value}" for name, value in SMALL.items()]
    monkeypatch.setattr(devices, "has_bf16", lambda: True)
    out = tmp_path / "fitted"
    assert partdino("segment", photo_folder, "--out", out, "--device", "cpu", *given).code == 0
    run = json.loads((out / "run.json").read_text())
    assert run["options"]["precision"] == run["fingerprint"]["precision"] == "bf16"

    def again(name: str, *more: str) -> str:
        model = ("--model", out / "parts.safetensors", "--workers=0", "--device=cpu", *more)
        assert partdino("segment", photo_folder, "--out", tmp_path / name, *model).code == 0
        return json.loads((tmp_path / name / "run.json").read_text())["options"]["precision"]

    assert again("same") == "bf16"
    assert label_bytes(tmp_path / "same") == label_bytes(out)
    assert again("asked", "--precision", "fp32") == "fp32"
    monkeypatch.setattr(devices, "has_bf16", lambda: False)
    assert again("elsewhere") == "fp32"
    assert label_bytes(tmp_path / "elsewhere") == label_bytes(tmp_path / "asked")
    resumed = partdino("segment", photo_folder, "--out", out, "--device", "cpu", "--resume", *given)
    assert resumed.code == 2
    assert "another precision ('bf16', now 'fp32')" in resumed.stderr


def test_info_says_whether_the_cpu_has_bf16(partdino, monkeypatch):
    monkeypatch.setattr("partdino.cli.info._hub", lambda: "answers")
    for has, words in ((True, ", bf16 in hardware"), (False, ", no bf16 in hardware")):
        monkeypatch.setattr(devices, "has_bf16", lambda has=has: has)
        assert words in json.loads(partdino("info", "--json").stdout)["devices"]["cpu"]
