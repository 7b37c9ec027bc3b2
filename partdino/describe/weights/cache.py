"""The folder of fetched weights."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """Return the folder of fetched weights, which may not exist yet.

    Returns
    -------
    Path
        `PARTDINO_CACHE`, else `partdino` in `XDG_CACHE_HOME`, else `~/.cache/partdino`: the
        same on every system, as the hub's own cache. (The platformdirs library would move it on
        macOS and Windows, and lose what has been fetched there.)
    """
    if chosen := os.environ.get("PARTDINO_CACHE"):
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "partdino"
