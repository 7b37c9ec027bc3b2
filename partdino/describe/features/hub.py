"""Weights on the Hugging Face hub: are they here, can they be had, fetch them.

The hub's own client retries for minutes where a network swallows packets. Every question here is
therefore asked once, in a thread that is left behind when its time is up.
"""

from __future__ import annotations

import threading
from pathlib import Path

import huggingface_hub
import timm
from huggingface_hub import constants
from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, OfflineModeIsEnabled

from partdino.errors import WeightsError

ANSWER_SECONDS = 4.0

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
    answers: list[Exception | None] = []

    def ask() -> None:
        try:
            huggingface_hub.get_hf_file_metadata(url, timeout=ANSWER_SECONDS)
            answers.append(None)
        except Exception as error:  # whatever the client raises is the answer
            answers.append(error)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(ANSWER_SECONDS)
    if not answers:
        return f"the hub did not answer within {ANSWER_SECONDS:.0f} s"
    return None if answers[0] is None else _reason(answers[0])


def fetch(timm_name: str) -> Path:
    """Return a model's weights file from the hub's cache, downloading it first where needed.

    Parameters
    ----------
    timm_name
        Name of the model, with or without tag.

    Returns
    -------
    Path
        A safetensors file in timm's naming.

    Raises
    ------
    WeightsError
        The hub has no such weights, cannot be reached, or refuses; within seconds.
    """
    if found := cached(timm_name):
        return found
    if reason := obstacle(timm_name):
        raise _cannot_fetch(timm_name, reason)
    try:
        return Path(huggingface_hub.hf_hub_download(repository(timm_name), _FILENAME))
    except Exception as error:  # the client lets through errors of several HTTP libraries
        raise _cannot_fetch(timm_name, _reason(error)) from error


def _reason(error: Exception) -> str:
    if isinstance(error, GatedRepoError):
        return "its licence must first be accepted on its hub page, then `hf auth login`"
    if isinstance(error, OfflineModeIsEnabled):
        return "HF_HUB_OFFLINE is set"
    if isinstance(error, HfHubHTTPError) and error.response is not None:
        status = error.response.status_code
        refused = "the hub refuses access to it, see `hf auth login`"
        return refused if status in (401, 403) else f"the hub answered with status {status}"
    first_line = (str(error).splitlines() or [""])[0]
    return f"the hub cannot be reached: {first_line or type(error).__name__}"


def _cannot_fetch(timm_name: str, reason: str) -> WeightsError:
    return WeightsError(f"cannot fetch the weights of {timm_name}: {reason}; {_CURE}")
