"""Holding libraries to one thread: the last bits of a sum depend on how many threads share it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from threading import Thread

from threadpoolctl import threadpool_limits


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute with one thread inside the block, or the function, whatever library computes."""
    import scipy.sparse.linalg  # noqa: F401  # has a BLAS of its own

    with threadpool_limits(1), one_torch_thread():
        yield


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Let torch compute with one thread inside the block: its BLAS is hidden inside it."""
    torch = sys.modules.get("torch")  # slow to import, and no use to what has not done so
    if torch is None:
        yield
        return
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def import_meanwhile(module: str) -> None:
    """Import in a thread what will be wanted later: networks leave the interpreter idle."""
    Thread(target=import_module, args=(module,), daemon=True).start()


def compute_with_one_thread(modules: Sequence[str]) -> None:
    """Keep this process to one thread from now on; for workers.

    Parameters
    ----------
    modules
        What will compute: imported first, since a library that is loaded later would not be held
        back.
    """
    for module in modules:
        import_module(module)
    import cv2
    import torch

    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    threadpool_limits(1)
