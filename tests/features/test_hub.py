"""Decisions around the hub, with a hub that the tests play themselves."""

from __future__ import annotations

import os
import threading

import huggingface_hub
import pytest
import timm
from huggingface_hub import constants
from huggingface_hub.utils import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    RepositoryNotFoundError,
)
from safetensors.torch import save_file

from partdino.describe.features import hub, load_backbone, resolve_backbone
from partdino.describe.features.loading import load_model
from partdino.errors import WeightsError

S14 = "vit_small_patch14_dinov2.lvd142m"


class Response:
    """As much of an HTTP response as the hub's errors need."""

    request = None

    def __init__(self, status_code: int):
        self.headers: dict[str, str] = {}
        self.status_code = status_code


@pytest.fixture(autouse=True)
def _empty_cache(monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", lambda *args: None)


@pytest.fixture
def answer(monkeypatch):
    """Let the hub answer questions with nothing, or with an error."""

    def set_answer(error: Exception | None) -> None:
        def metadata(url: str, timeout: float) -> None:
            if error is not None:
                raise error

        monkeypatch.setattr(huggingface_hub, "get_hf_file_metadata", metadata)

    return set_answer


@pytest.fixture
def silent(monkeypatch):
    """A network that swallows every packet."""
    release = threading.Event()
    monkeypatch.setattr(
        huggingface_hub, "get_hf_file_metadata", lambda url, timeout: release.wait()
    )
    yield
    release.set()


def test_auto_takes_dinov2_from_the_cache_without_asking(monkeypatch, answer, tmp_path):
    answer(AssertionError("asked"))
    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", lambda *a: str(tmp_path))
    name, reason = resolve_backbone("auto")
    assert name == "dinov2-s14" and "cache" in reason


def test_auto_takes_dinov2_where_the_hub_answers(answer):
    answer(None)
    name, reason = resolve_backbone("auto")
    assert name == "dinov2-s14" and "answers" in reason


@pytest.mark.parametrize(
    "error", [ConnectionError("no route"), HfHubHTTPError("", response=Response(503))]
)
def test_auto_takes_the_embedded_one_where_the_hub_fails(answer, error):
    answer(error)
    name, reason = resolve_backbone("auto")
    assert name == "efficientnet-lite2" and "dinov2-s14" in reason and "\n" not in reason


def test_auto_does_not_wait_for_a_silent_hub(silent, monkeypatch):
    monkeypatch.setattr(hub, "ANSWER_SECONDS", 0.05)
    name, reason = resolve_backbone("auto")
    assert name == "efficientnet-lite2" and "did not answer" in reason


def test_auto_respects_offline_mode(monkeypatch, answer):
    answer(AssertionError("asked"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    name, reason = resolve_backbone("auto")
    assert name == "efficientnet-lite2" and "HF_HUB_OFFLINE" in reason


def test_a_named_backbone_fails_fast_with_the_cures(silent, monkeypatch):
    monkeypatch.setattr(hub, "ANSWER_SECONDS", 0.05)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", pytest.fail)
    with pytest.raises(WeightsError, match=r"--weights FILE.*efficientnet-lite2"):
        load_backbone("dinov2-b14")


@pytest.mark.parametrize(
    "error, words",
    [
        (
            GatedRepoError("", response=Response(403)),
            "accepted at .*/timm/vit_small",
        ),
        (HfHubHTTPError("", response=Response(401)), "refuses access"),
        (HfHubHTTPError("", response=Response(500)), "status 500"),
        (RepositoryNotFoundError("", response=Response(404)), r"hub has no timm/.*\(404\)"),
        (EntryNotFoundError("404"), r"no model.safetensors in timm/.*\(404\)"),
        (ConnectionError("no route\nto host"), "no route"),
    ],
)
def test_what_the_hub_says_reaches_the_user(answer, monkeypatch, error, words):
    answer(error)
    with pytest.raises(WeightsError, match=words) as asked:
        load_backbone("dinov3-s16")
    assert "\n" not in str(asked.value)
    answer(None)  # it answers, but then the download fails

    def download(*args: str, **options: bool) -> None:
        raise error

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    with pytest.raises(WeightsError, match=words):
        load_backbone("dinov3-s16")


def test_a_download_that_breaks_off_or_stalls_is_told_from_no_hub(answer, monkeypatch, tmp_path):
    answer(None)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))

    def breaks_off(*args: str, **options: bool) -> None:
        raise ConnectionError("peer closed the connection")

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", breaks_off)
    with pytest.raises(WeightsError, match=r"the download broke off \(peer closed") as broken:
        load_backbone("dinov2-b14")
    assert "cannot be reached" not in str(broken.value)

    release = threading.Event()
    monkeypatch.setattr(hub, "STALL_SECONDS", 0.3)
    part = tmp_path / "models--timm--vit_base_patch14_dinov2.lvd142m" / "blobs" / "1.incomplete"
    part.parent.mkdir(parents=True)

    def slow(*args: str, **options: bool) -> str:
        for count in range(6):  # slower than the limit in all, never in between
            part.write_bytes(bytes(count))
            release.wait(0.2)
        return str(part)

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", slow)
    assert hub.fetch("vit_base_patch14_dinov2.lvd142m") == part
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", lambda *a, **k: release.wait(60))
    with pytest.raises(WeightsError, match="has stalled; try again"):
        hub.fetch("vit_base_patch14_dinov2.lvd142m")
    release.set()


def test_a_model_without_hub_weights_needs_a_file():
    with pytest.raises(WeightsError, match=r"no weights of gcvit_base.*--weights FILE"):
        load_model("gcvit_base", None)


def test_cached_weights_are_loaded_and_a_damaged_file_is_named(monkeypatch, tmp_path):
    file = tmp_path / "snapshots" / "a1b2" / "model.safetensors"
    file.parent.mkdir(parents=True)
    state = timm.create_model("test_vit", num_classes=0).state_dict()
    save_file(state, file)
    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", lambda *args: str(file))
    _, from_hub = load_model("test_vit", None)
    _, from_file = load_model("test_vit", file)
    assert from_hub.sha256 == from_file.sha256
    assert from_hub.source == f"hub:{timm.get_pretrained_cfg('test_vit').hf_hub_id}@a1b2"
    blob = tmp_path / "blob"
    blob.write_bytes(b"damaged")
    file.unlink()
    file.symlink_to(blob)
    with pytest.raises(WeightsError, match=f"cannot load {file}.*delete {blob} to fetch"):
        load_model("test_vit", None)
    with pytest.raises(WeightsError, match="replace it with `partdino weights pull dino-s8`"):
        load_model("dino-s8", None)


@pytest.mark.hub
def test_dinov2_from_the_real_hub():
    if not os.environ.get("PARTDINO_TEST_HUB"):
        pytest.skip("set PARTDINO_TEST_HUB=1 to fetch DINOv2-S from the hub")
    assert load_backbone("dinov2-s14").dim == 384
