"""Backbone weights in the hub's cache: named, sized, checked, replaced when damaged."""

from __future__ import annotations

import hashlib
from pathlib import Path

import huggingface_hub
import pytest
import timm
import torch

from partdino.describe import weights
from partdino.describe.features import hub as features_hub
from partdino.describe.features.loading import recognise
from partdino.describe.features.registry import EMBEDDED, SHORT_NAMES, timm_name
from partdino.describe.weights.hub import hub_weights
from partdino.errors import ConfigError, WeightsError

CONTENT = b"tensors" * 100


@pytest.fixture
def hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def blob(hub_cache: Path) -> Path:
    """Put weights of dinov2-s14 into the cache as the hub's client does; return the real file."""
    folder = hub_cache / "models--timm--vit_small_patch14_dinov2.lvd142m"
    blob = folder / "blobs" / hashlib.sha256(CONTENT).hexdigest()
    link = folder / "snapshots" / ("0" * 40) / "model.safetensors"
    for file in (blob, link, folder / "refs" / "main"):
        file.parent.mkdir(parents=True)
    blob.write_bytes(CONTENT)
    link.symlink_to(blob)
    (folder / "refs" / "main").write_text("0" * 40)
    return blob


def test_every_short_name_is_described(hub_cache):
    described = hub_weights()
    assert described.keys() == SHORT_NAMES.keys() - {EMBEDDED}
    assert all(item.licence and item.size > 80e6 for item in described.values())
    assert not any(weights.is_available(name) for name in described)


@pytest.mark.parametrize("name", ["dino-s8", "dinov2-s14-reg", "dinov3-s16"])
def test_sizes_are_those_of_the_network(hub_cache, name):
    with torch.device("meta"):
        network = timm.create_model(SHORT_NAMES[name], num_classes=0)
    size = 4 * sum(parameter.numel() for parameter in network.parameters())
    assert hub_weights()[name].size == pytest.approx(size, rel=0.01)


def test_a_cached_file_is_found_and_verified(blob):
    assert weights.path("dinov2-s14").resolve() == blob.resolve()
    assert weights.verify("dinov2-s14") is weights.State.OK
    assert hub_weights()["dinov2-s14"].size == len(CONTENT)


def test_a_damaged_file_is_replaced(blob, hub_cache, monkeypatch):
    blob.write_bytes(b"half a download")
    assert weights.verify("dinov2-s14") is weights.State.DAMAGED

    link = next(hub_cache.rglob("model.safetensors"))
    monkeypatch.setattr(features_hub, "obstacle", lambda timm_name: "no network")
    with pytest.raises(WeightsError, match="no network"):
        weights.pull("dinov2-s14", lambda line: None)
    assert blob.read_bytes() == b"half a download", "it is all there is until another has come"

    def download(repository: str, name: str, force_download: bool) -> str:
        assert force_download, "the hub's client would link to the damaged file again"
        blob.write_bytes(sent)
        return str(link)

    monkeypatch.setattr(features_hub, "obstacle", lambda timm_name: None)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    sent = bytes(len(CONTENT))  # as long as the right one
    with pytest.raises(WeightsError, match=r"SHA-256 is wrong.*weights pull dinov2-s14"):
        weights.pull("dinov2-s14", lambda line: None)
    sent = CONTENT
    weights.pull("dinov2-s14", lambda line: None)
    assert weights.verify("dinov2-s14") is weights.State.OK


def test_a_timm_without_one_of_the_names_has_all_others(hub_cache, monkeypatch):
    monkeypatch.setitem(SHORT_NAMES, "dinov9-s14", "vit_of_another_year.lvd")
    assert "dinov9-s14" not in hub_weights() and "dino-s8" in hub_weights()
    with pytest.raises(ConfigError, match="has no dinov9-s14; `pip install -U timm`"):
        timm_name("dinov9-s14")
    assert recognise({"weight": torch.ones(2)}) == []


def test_a_file_without_a_known_hash_is_not_called_damaged(blob):
    link = weights.path("dinov2-s14")
    link.unlink()
    link.write_bytes(CONTENT)  # as on a file system without links
    assert weights.verify("dinov2-s14") is weights.State.UNKNOWN
