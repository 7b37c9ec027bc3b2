"""Holding libraries to one thread: the last bits of a sum depend on how many threads share it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

from threadpoolctl import threadpool_limits

# What stages compute with: a library that is loaded later would not be held back.
STAGES = ("partdino.description", "partdino.features", "partdino.boundaries.hed")


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute with one thread inside the block, or the function, whatever library computes."""
    import scipy.sparse.linalg  # noqa: F401  # has a BLAS of its own

    torch = sys.modules.get("torch")  # slow to import, and no use to what has not done so
    threads = torch and torch.get_num_threads()
    with threadpool_limits(1):
        if torch:
            torch.set_num_threads(1)  # its BLAS is hidden inside it
        try:
            yield
        finally:
            if torch:
                torch.set_num_threads(threads)


def compute_with_one_thread() -> None:
    """Keep this process to one thread from now on; for workers."""
    for stage in STAGES:
        import_module(stage)
    import cv2
    import torch

    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    threadpool_limits(1)
