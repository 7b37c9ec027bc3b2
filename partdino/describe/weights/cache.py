"""The cache folder and the hashes of what lies in it."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from partdino.files import file_sha256


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


def remembered_sha256(path: Path) -> str:
    """Hash a file once per process, for as long as its size and time stay the same."""
    stat = path.stat()
    return _sha256_of_version(path, stat.st_size, stat.st_mtime_ns)


@lru_cache
def _sha256_of_version(path: Path, size: int, mtime_ns: int) -> str:
    return file_sha256(path)
