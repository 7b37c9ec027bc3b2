"""The memory that networks compute in: how it is had from the system, and given back."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition


def ask_for_huge_pages() -> None:
    """Let torch ask for huge pages, here and in processes started here; before it computes.

    A network's maps are tens of megabytes that are taken and given back for every image: in pages
    of 4 kB, that took a tenth to a fifth of the processor time of HED. Results are the same. Other
    systems than Linux pay no heed, and what the environment says already stands.
    """
    os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")


def give_back_memory() -> None:
    """Give back what torch has kept of the memory of GPUs, for others to have."""
    torch = sys.modules.get("torch")  # nothing is kept by what is not imported
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.empty_cache()


class SharedMemory:
    """The memory of a device: shared by threads, but that one may ask to have it alone."""

    def __init__(self) -> None:
        self._threads = 0  # that are in it; -1: one that is alone
        self._waiting = 0  # for having it alone: they go first
        self._changed = Condition()

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Compute with what memory there is; wait while another thread has it alone."""
        with self._changed:
            self._changed.wait_for(lambda: self._threads >= 0 and not self._waiting)
            self._threads += 1
        try:
            yield
        finally:
            with self._changed:
                self._threads -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Wait until no thread is in it, and compute with all of it."""
        with self._changed:
            self._waiting += 1
            self._changed.wait_for(lambda: self._threads == 0)
            self._waiting -= 1
            self._threads = -1
        try:
            give_back_memory()
            yield
        finally:
            with self._changed:
                self._threads = 0
                self._changed.notify_all()
