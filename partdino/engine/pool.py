"""A pool of processes, wherever they run, and what becomes of a task that kills them."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from threading import Lock
from typing import Any, Literal

import joblib

from partdino.errors import PartDinoError

TRIES = 2  # a task that two workers die of has killed them; the first may have died of another
_PROTOCOL = 5  # of pickle: arrays are copied once


class WorkerDied(PartDinoError):
    """A task ended the worker processes that it ran in."""

    def __init__(self) -> None:
        super().__init__(
            "it ended its worker process twice, most likely for want of memory; pass fewer "
            "--workers or scale it down"
        )


class Pool(Executor):
    """An executor of processes that take a task at a time each, and are replaced when they die.

    Each is waited for by a thread.

    Parameters
    ----------
    workers
        The number of processes. Each computes with one thread.
    most
        The most processes that a pool may grow to; None: it does not.
    """

    def __init__(self, workers: int, most: int | None = None) -> None:
        self.workers = workers
        self._threads = ThreadPoolExecutor(most or workers, thread_name_prefix="worker")
        self._lock = Lock()
        self._closed = False

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future:
        """Run a function in one of the processes.

        Its future raises what the function raises, or `WorkerDied`: a task whose process dies is
        given to a second one.
        """
        task = pickle.dumps(partial(function, *arguments, **named), _PROTOCOL)
        return self._threads.submit(self._run, task)

    def _run(self, task: bytes) -> Any:
        raise NotImplementedError


def count(workers: int | Literal["auto"]) -> int:
    """Return how many workers suit this machine where it is left open."""
    return joblib.cpu_count() if workers == "auto" else workers


def answer(task: bytes) -> bytes:
    """Run a pickled task; return a pickled pair, what it returned and what it raised."""
    try:
        return pickle.dumps((pickle.loads(task)(), None), _PROTOCOL)
    except Exception as error:
        return pickle.dumps((None, error), _PROTOCOL)


def result_of(reply: bytes) -> Any:
    """Return what a task returned, or raise what it raised."""
    result, error = pickle.loads(reply)
    if error is not None:
        raise error
    return result
