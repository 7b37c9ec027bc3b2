"""Opening the pool that a run asks for: on this machine, or on a Ray cluster."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

from partdino.engine.pool import Pool, count
from partdino.engine.workers import WorkerPool
from partdino.errors import ConfigError


@contextmanager
def worker_pool(
    workers: int | Literal["auto"],
    engine: Literal["local", "ray"] = "local",
    device: str = "cpu",
    modules: Sequence[str] = (),
    warn: Callable[[str], None] = warnings.warn,
) -> Iterator[Pool | None]:
    """Yield a pool of worker processes, which end with the block.

    Parameters
    ----------
    workers
        How many; "auto" is one for each core that this process may use, or as
        `partdino.engine.ray_workers.RayPool` has it. For 0, None is yielded.
    engine
        Where they run: on this machine, or on a Ray cluster.
    device
        What workers on a cluster compute on.
    modules
        What the tasks compute with: imported by every worker before its first task, since a
        library that is loaded later would not be held to one thread.
    warn
        Told where a cluster has no room for a worker.

    Raises
    ------
    ConfigError
        There is no Ray, or no such device on the cluster.
    """
    if workers == 0:
        yield None
        return
    pool: Pool
    if engine == "ray":
        pool = _ray_pool(workers, device, modules, warn)
    else:
        pool = WorkerPool(count(workers), modules)
    try:
        yield pool
    finally:
        pool.shutdown()


def _ray_pool(
    workers: int | Literal["auto"],
    device: str,
    modules: Sequence[str],
    warn: Callable[[str], None],
) -> Pool:
    try:
        from partdino.engine.ray_workers import RayPool
    except ImportError as error:
        raise ConfigError("--engine ray needs Ray: pip install 'partdino[ray]'") from error
    return RayPool(workers, device, modules, warn)
