"""Carrying many images through stages: in order, in parallel, past failures.

A stage never sees a failed image, and a failed image never stops the others: it travels on as an
`Outcome` with a reason.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from typing import Any, Generic, TypeVar, cast

from partdino.engine.pool import Pool, WorkerDied
from partdino.engine.threads import one_thread, one_torch_thread
from partdino.errors import DeviceError, PartDinoError

S = TypeVar("S")
T = TypeVar("T")

_FEW = 4  # so many images take no longer here than worker processes take to start
_AHEAD = 4  # outcomes a worker that are in a pool at a time, which bounds the memory

# By their words: torch's devices raise various classes, some of them plain RuntimeErrors. cuBLAS
# and cuDNN have words of their own; a handle of theirs is not initialised where memory lacks.
_OUT_OF_MEMORY = (
    "out of memory",
    "can't allocate memory",
    "status_alloc_failed",
    "allocation_failed",
    "status_not_initialized",
)
_DEAD_DEVICE = ("cuda error", "hip error")


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
    cpu_seconds
        The same in processor time, of all threads of the process.
    """

    name: str
    value: T | None = None
    failure: str | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    cpu_seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def result(self) -> T:
        """What the last stage made of an image that has not failed."""
        return cast(T, self.value)

    def after(
        self,
        stage: str,
        value: Any,
        failure: str | None,
        start: tuple[float, float],
        shared_by: int = 1,
    ) -> Outcome:
        """Return what a stage made of it that began at `start` (see `clocks`).

        The time is divided by the number of images that shared it.
        """
        wall, cpu = ((now - then) / shared_by for now, then in zip(clocks(), start, strict=True))
        return Outcome(
            self.name,
            value,
            failure,
            {**self.seconds, stage: self.seconds.get(stage, 0.0) + wall},
            {**self.cpu_seconds, stage: self.cpu_seconds.get(stage, 0.0) + cpu},
        )


def clocks() -> tuple[float, float]:
    """Return the time and this process's processor time, in seconds from some beginning."""
    return time.perf_counter(), time.process_time()


def try_stage(stage: str, function: Callable[[Any], Any], outcome: Outcome) -> Outcome:
    """Apply a stage to an outcome; an exception becomes the reason of its failure.

    Raises
    ------
    DeviceError
        As `reason_of`.
    """
    if outcome.failure is not None:
        return outcome
    start = clocks()
    try:
        value, failure = function(outcome.value), None
    except Exception as error:  # a defect that one image shows must not lose the other images
        value, failure = None, reason_of(error)
    return outcome.after(stage, value, failure, start)


def reason_of(error: Exception) -> str:
    """Say why an image failed.

    Raises
    ------
    DeviceError
        No image is to blame: the device has failed, and all that come after would fail as well.
    """
    if isinstance(error, DeviceError):
        raise error
    if isinstance(error, PartDinoError):
        return getattr(error, "reason", str(error))
    if is_out_of_memory(error):
        return "not enough memory; scale it down first"
    if is_of_dead_device(error):
        words = str(error).splitlines()[0]
        raise DeviceError(
            f"the device has failed ({words}): look after it (nvidia-smi), then go on with --resume"
        ) from error
    return f"unexpected {type(error).__name__}: {error}; please report it"


def is_out_of_memory(error: Exception) -> bool:
    """Tell whether memory ran out, of the machine or of a device of torch."""
    return isinstance(error, MemoryError) or _says(error, _OUT_OF_MEMORY)


def is_of_dead_device(error: Exception) -> bool:
    """Tell whether a device of torch has failed, as by an illegal access or an ECC error.

    After most such errors the process computes on no device of the kind any more.
    """
    return _says(error, _DEAD_DEVICE) and not is_out_of_memory(error)


def _says(error: Exception, words: Iterable[str]) -> bool:
    return isinstance(error, RuntimeError) and any(w in str(error).lower() for w in words)


def run_stage(
    stage: str,
    function: Callable[[Any], Any],
    outcomes: Iterable[Outcome],
    pool: Pool | None = None,
) -> Iterator[Outcome]:
    """Put outcomes through one stage; see `run_stages`."""
    return run_stages({stage: function}, outcomes, pool)


def run_stages(
    stages: Mapping[str, Callable[[Any], Any]],
    outcomes: Iterable[Outcome],
    pool: Pool | None = None,
) -> Iterator[Outcome]:
    """Put outcomes through stages, each through all in one process, and yield them in their order.

    Parameters
    ----------
    stages
        By name, in their order: from the value of one outcome to that of the next; pure functions,
        picklable for a pool.
    outcomes
        What comes in.
    pool
        Where the stages run; None is this process. What is too little to start processes for is
        run here as well, in as many threads.
    """
    outcomes = iter(outcomes)
    first = [] if pool is None else list(islice(outcomes, _FEW))
    outcomes = chain(first, outcomes)
    if pool is None:
        yield from (_run_here(stages, outcome) for outcome in outcomes)
        return
    if len(first) < _FEW:
        yield from _run_few(stages, first, pool.workers)
        return
    function = partial(_try_all, stages)
    for outcome, future in in_order(pool, function, outcomes, lambda: _AHEAD * pool.workers):
        try:
            yield future.result()
        except WorkerDied as death:
            yield Outcome(outcome.name, failure=str(death))


def _run_here(stages: Mapping[str, Callable[[Any], Any]], outcome: Outcome) -> Outcome:
    with one_thread():  # as in a worker: the last bits are the same
        return _try_all(stages, outcome)


def _run_few(
    stages: Mapping[str, Callable[[Any], Any]], few: Sequence[Outcome], threads: int
) -> list[Outcome]:
    def run(outcome: Outcome) -> Outcome:
        with one_torch_thread():  # torch counts for each thread of ours
            return _try_all(stages, outcome)

    with one_thread(), ThreadPoolExecutor(threads, thread_name_prefix="few") as executor:
        return list(executor.map(run, few))


def _try_all(stages: Mapping[str, Callable[[Any], Any]], outcome: Outcome) -> Outcome:
    for stage, function in stages.items():
        outcome = try_stage(stage, function, outcome)
    return outcome


def in_order(
    executor: Executor, function: Callable[..., T], items: Iterable[S], ahead: Callable[[], int]
) -> Iterator[tuple[S, Future[T]]]:
    """Apply a function to items in an executor, at most `ahead()` at a time: a pool may grow.

    Yields
    ------
    tuple
        Each item and the future of its result, in the items' order.
    """
    pending: deque[tuple[S, Future[T]]] = deque()
    for item in items:
        pending.append((item, executor.submit(function, item)))
        if len(pending) >= ahead():
            yield pending.popleft()
    while pending:
        yield pending.popleft()
