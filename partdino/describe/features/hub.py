"""Weights on the Hugging Face hub: are they here, can they be had, fetch them.

The hub's own client retries for minutes where a network swallows packets. Every question here is
therefore asked once, in a thread that is left behind when its time is up; so is a download that
does not grow any more.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import huggingface_hub
import timm
from huggingface_hub import constants
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    OfflineModeIsEnabled,
)
from huggingface_hub.file_download import repo_folder_name

from partdino.errors import WeightsError

ANSWER_SECONDS = 4.0
STALL_SECONDS = 30.0  # of a download of which nothing arrives any more

_FILENAME = "model.safetensors"
_CURE = "pass a file with --weights FILE, or use --backbone efficientnet-lite2, which needs no hub"


def repository(timm_name: str) -> str:
    """Return the hub repository of a model's weights; raises `WeightsError` if there is none."""
    config = timm.get_pretrained_cfg(timm_name)
    if config is None or not config.hf_hub_id:
        raise WeightsError(
            f"the hub has no weights of {timm_name}; pass a file with --weights FILE"
        )
    return config.hf_hub_id


def cached(timm_name: str) -> Path | None:
    """Return the weights file in the hub's cache on this machine, or None."""
    found = huggingface_hub.try_to_load_from_cache(repository(timm_name), _FILENAME)
    return Path(found) if isinstance(found, str) else None


def obstacle(timm_name: str) -> str | None:
    """Ask the hub for a weights file's headers and say what stands in the way of fetching it.

    Parameters
    ----------
    timm_name
        A model with a `repository`.

    Returns
    -------
    str or None
        A clause such as "the hub did not answer within 4 s"; None where nothing is in the way.
        It takes `ANSWER_SECONDS` at the most, name resolution and redirects included.
    """
    if constants.HF_HUB_OFFLINE:
        return "HF_HUB_OFFLINE is set"
    url = huggingface_hub.hf_hub_url(repository(timm_name), _FILENAME)
    question = _Thread(lambda: huggingface_hub.get_hf_file_metadata(url, timeout=ANSWER_SECONDS))
    question.join(ANSWER_SECONDS)
    if question.is_alive():
        return f"the hub did not answer within {ANSWER_SECONDS:.0f} s"
    return None if question.error is None else _reason(question.error, timm_name)


def commit(file: Path) -> str:
    """Return ``@`` and the commit of the hub that a file of its cache is of; empty where untold."""
    folder = file.parent
    return f"@{folder.name}" if folder.parent.name == "snapshots" else ""


def fetch(timm_name: str, anew: bool = False) -> Path:
    """Return a model's weights file from the hub's cache, downloading it first where needed.

    Parameters
    ----------
    timm_name
        Name of the model, with or without tag.
    anew
        Download it though it is there. What is there stays until the new file has come whole.

    Returns
    -------
    Path
        A safetensors file in timm's naming.

    Raises
    ------
    WeightsError
        The hub has no such weights, cannot be reached, or refuses, within seconds; or the download
        breaks off, or stalls.
    """
    if not anew and (found := cached(timm_name)):
        return found
    if reason := obstacle(timm_name):
        raise _cannot_fetch(timm_name, reason)
    name = repository(timm_name)
    download = _Thread(
        lambda: huggingface_hub.hf_hub_download(name, _FILENAME, force_download=anew)
    )
    if not _grows_to_the_end(download, name):
        reason = f"nothing came for {STALL_SECONDS:.0f} s, the download has stalled; try again"
        raise _cannot_fetch(timm_name, reason)
    if isinstance(download.error, HfHubHTTPError | EntryNotFoundError | OfflineModeIsEnabled):
        raise _cannot_fetch(timm_name, _reason(download.error, timm_name)) from download.error
    if download.error is not None:  # the client lets through errors of several HTTP libraries
        reason = f"the download broke off ({_first_line(download.error)}); try again"
        raise _cannot_fetch(timm_name, reason) from download.error
    return Path(download.value)


class _Thread(threading.Thread):
    """Calls a function beside the caller, and keeps what it returns or raises."""

    def __init__(self, function: Callable[[], Any]) -> None:
        super().__init__(daemon=True)
        self._function = function
        self.value: Any = None
        self.error: Exception | None = None
        self.start()

    def run(self) -> None:
        try:
            self.value = self._function()
        except Exception as error:  # whatever the client raises is the answer
            self.error = error


def _grows_to_the_end(download: _Thread, name: str) -> bool:
    """Wait for the end of a download; return whether it came to one, or stalled before."""
    folder = Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=name, repo_type="model")
    size, since = -1, time.monotonic()
    while download.is_alive():
        download.join(0.2)
        if (now := _bytes_in(folder)) != size:
            size, since = now, time.monotonic()
        elif time.monotonic() - since > STALL_SECONDS:
            return False
    return True


def _bytes_in(folder: Path) -> int:
    """Count what a download has written; files may come and go meanwhile."""
    total = 0
    for file in folder.glob("blobs/*"):
        with suppress(OSError):
            total += file.stat().st_size
    return total


def _reason(error: Exception, timm_name: str) -> str:
    name = repository(timm_name)
    page = f"{constants.ENDPOINT}/{name}"
    if isinstance(error, GatedRepoError):
        return f"its licence must first be accepted at {page}, then `hf auth login`"
    if isinstance(error, OfflineModeIsEnabled):
        return "HF_HUB_OFFLINE is set"
    if isinstance(error, EntryNotFoundError):
        return f"the hub has no {_FILENAME} in {name} (404)"
    if isinstance(error, HfHubHTTPError) and error.response is not None:
        status = error.response.status_code
        if status in (401, 403):
            return f"the hub refuses access to {page}, see `hf auth login`"
        if status == 404:
            return f"the hub has no {name} (404)"
        return f"the hub answered with status {status}"
    return f"the hub cannot be reached: {_first_line(error)}"


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0] or type(error).__name__


def _cannot_fetch(timm_name: str, reason: str) -> WeightsError:
    return WeightsError(f"cannot fetch the weights of {timm_name}: {reason}; {_CURE}")
