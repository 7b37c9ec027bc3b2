"""Carrying many images through a chain of stages: in order, in parallel, past failures.

A stage never sees a failed image, and a failed image never stops the others: it travels on as an
`Outcome` with a reason.
"""

from __future__ import annotations

import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Any, Generic, TypeVar

from partdino.errors import PartDinoError

T = TypeVar("T")


@dataclass(frozen=True)
class Outcome(Generic[T]):
    """What became of one image so far.

    Attributes
    ----------
    name
        The image's name.
    value
        What the last stage made of it; None after a failure.
    failure
        Why it failed, or None.
    seconds
        Time spent on it by stage.
    """

    name: str
    value: T | None = None
    failure: str | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    def spent(self, stage: str, seconds: float) -> dict[str, float]:
        """Return `seconds` with the time of a stage added."""
        return {**self.seconds, stage: self.seconds.get(stage, 0.0) + seconds}


def attempt(stage: str, function: Callable[[Any], Any], outcome: Outcome) -> Outcome:
    """Apply a stage to an outcome; an exception becomes the reason of its failure."""
    if outcome.failure is not None:
        return outcome
    start = time.perf_counter()
    try:
        value, failure = function(outcome.value), None
    except PartDinoError as error:
        value, failure = None, getattr(error, "reason", str(error))
    except MemoryError:
        value, failure = None, "not enough memory; scale it down first"
    except Exception as error:  # a defect that one image shows must not lose the other images
        value, failure = None, f"unexpected {type(error).__name__}: {error}; please report it"
    seconds = outcome.spent(stage, time.perf_counter() - start)
    return replace(outcome, value=value, failure=failure, seconds=seconds)


@contextmanager
def worker_pool(workers: int) -> Iterator[Executor | None]:
    """Yield a pool of worker processes, or None for none.

    Raises
    ------
    PartDinoError
        A worker died.
    """
    if workers == 0:
        yield None
        return
    # Not forked: a fork copies the locks of torch's threads in whatever state they are.
    context = get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_start_worker)
    try:
        yield pool
    except BrokenProcessPool as error:
        raise PartDinoError(
            "a worker process died, most likely of too little memory; pass fewer --workers"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _start_worker() -> None:
    # Ctrl-C reaches every process of a terminal: the main one ends the run, in its own words.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    # Where the main process is killed, nobody tells its workers that there is no more work.
    parent_process().join()
    os._exit(1)


def through(
    stage: str,
    function: Callable[[Any], Any],
    outcomes: Iterable[Outcome],
    pool: Executor | None = None,
    ahead: int = 16,
) -> Iterator[Outcome]:
    """Put outcomes through a stage and yield them in their order.

    Parameters
    ----------
    stage
        Its name, for the seconds.
    function
        From the value of one outcome to that of the next; a pure function, picklable for a pool.
    outcomes
        What comes in.
    pool
        Where the function runs; None is this process.
    ahead
        The most outcomes that are in the pool at a time, which bounds the memory.
    """
    if pool is None:
        for outcome in outcomes:
            yield attempt(stage, function, outcome)
        return
    pending: deque[Future] = deque()
    for outcome in outcomes:
        pending.append(pool.submit(attempt, stage, function, outcome))
        if len(pending) >= ahead:
            yield pending.popleft().result()
    while pending:
        yield pending.popleft().result()
