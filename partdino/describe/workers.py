"""Workers that are ready to describe and to label images."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Literal

from partdino.engine.pool import Pool
from partdino.engine.pools import worker_pool

# What the stages compute with, torch and its networks included.
_MODULES = (
    "partdino.describe.stages",
    "partdino.describe.features",
    "partdino.describe.boundaries.hed",
)


def stage_workers(
    workers: int | Literal["auto"],
    engine: Literal["local", "ray"] = "local",
    device: str = "cpu",
    warn: Callable[[str], None] = warnings.warn,
) -> AbstractContextManager[Pool | None]:
    """Open a pool for the stages; see `partdino.engine.pools.worker_pool`."""
    return worker_pool(workers, engine, device, _MODULES, warn)
