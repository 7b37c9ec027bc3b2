"""Putting images through a device several at a time, as many as its memory holds."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any, Literal, TypeVar, cast

from partdino.engine.memory import SharedMemory
from partdino.engine.outcomes import Outcome, clocks, in_order, is_out_of_memory, reason_of
from partdino.engine.pool import Pool, WorkerDied

T = TypeVar("T")

_MOST = 32  # photos that keep any device busy
_BATCHES = 4  # at a time in a worker's hands: some of its photos have the same shape
_TURNS = 2  # threads at the device: one prepares and fetches while the other computes
_END = object()
_MEMORY = SharedMemory()  # of the device: all stages of a process have the same one


class BatchStage:
    """A stage that takes several images of one shape at a time.

    What is too much for the device's memory is halved until it fits, and no larger batch is tried
    again; a single image is tried once more while no other thread holds memory there. A batch that
    fails otherwise is halved too, until only the image to blame has failed.

    Parameters
    ----------
    name
        For the outcomes' seconds.
    function
        From values to those of the next stage, in their order.
    shape_of
        Equal for values that can be in one batch.
    size
        The most images in a batch; "auto" is as many as are of use.
    """

    def __init__(
        self,
        name: str,
        function: Callable[[list[Any]], Sequence[Any]],
        shape_of: Callable[[Any], Hashable],
        size: int | Literal["auto"] = "auto",
    ) -> None:
        self.name = name
        self.size = _MOST if size == "auto" else size
        self._function = function
        self._shape_of = shape_of

    def __call__(self, outcomes: Sequence[Outcome]) -> list[Outcome]:
        """Put outcomes through the stage; they keep their order."""
        done = list(outcomes)
        places: dict[Hashable, list[int]] = {}
        for place, outcome in enumerate(outcomes):
            if outcome.failure is None:
                places.setdefault(self._shape_of(outcome.value), []).append(place)
        for alike in places.values():
            for place, outcome in zip(alike, self._run([done[p] for p in alike]), strict=True):
                done[place] = outcome
        return done

    def _run(self, alike: list[Outcome]) -> Iterator[Outcome]:
        while alike:
            size = self.size  # another thread may lower it
            yield from self._try(alike[:size])
            alike = alike[size:]

    def _try(self, batch: list[Outcome]) -> Iterator[Outcome]:
        start = clocks()
        failure: str | None = None
        values: Sequence[Any] = [None] * len(batch)
        with_less = False
        try:
            with _MEMORY.shared():
                values = self._function([outcome.value for outcome in batch])
        except Exception as error:
            failure = reason_of(error)
            with_less = is_out_of_memory(error)
        # The error is gone by now, and with it the memory that its traceback held.
        if with_less:
            self.size = max(1, min(self.size, len(batch) // 2))
            if len(batch) == 1:
                values, failure = self._try_alone(batch[0])
        if failure is None or len(batch) == 1:
            for outcome, value in zip(batch, values, strict=True):
                yield outcome.after(self.name, value, failure, start, len(batch))
            return
        half = len(batch) // 2
        yield from self._run(batch[:half])
        yield from self._run(batch[half:])

    def _try_alone(self, outcome: Outcome) -> tuple[Sequence[Any], str | None]:
        """Return what becomes of an image that has all memory, and why it failed if it did."""
        try:
            with _MEMORY.alone():
                return self._function([outcome.value]), None
        except Exception as error:
            return [None], reason_of(error)


def in_batches(stages: Sequence[BatchStage], outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    """Put outcomes through stages of a device and yield them in their order.

    A few batches are under way at a time: one is collected from `outcomes`, in a thread of its
    own, while others are at the device.
    """
    outcomes = iter(outcomes)
    # Images come in many shapes: a window of two batches finds more of the same one.
    length = 2 * max(stage.size for stage in stages)
    windows = iter(lambda: list(islice(outcomes, length)), [])

    def run(window: list[Outcome]) -> list[Outcome]:
        for stage in stages:
            window = stage(window)
        return window

    threads = ThreadPoolExecutor(_TURNS, thread_name_prefix="device")
    try:
        for _, future in in_order(threads, run, buffered(windows, 1), lambda: _TURNS + 1):
            yield from future.result()
    finally:
        threads.shutdown(cancel_futures=True)


def in_windows(
    function: Callable[[list[Any]], list[Outcome]],
    items: Iterable[Any],
    size: int | Literal["auto"],
    pool: Pool,
) -> Iterator[Outcome]:
    """Have the workers of a pool, who have a device each, take some batches at a time.

    Parameters
    ----------
    function
        From named items to their outcomes, in their order.
    items
        What comes in; each has a `name`.
    size
        The most items in a batch, as for `BatchStage`.
    pool
        Where the function runs.
    """
    items = iter(items)
    length = _BATCHES * (_MOST if size == "auto" else size)
    windows = iter(lambda: list(islice(items, length)), [])
    for window, future in in_order(pool, function, windows, lambda: _TURNS * pool.workers):
        yield from _survivors(function, window, future, pool)


def _survivors(
    function: Callable[[list[Any]], list[Outcome]], window: list[Any], future: Future, pool: Pool
) -> Iterator[Outcome]:
    """Yield a window's outcomes; one that workers die of is halved down to the item to blame."""
    try:
        yield from future.result()
    except WorkerDied as death:
        if len(window) == 1:
            yield Outcome(window[0].name, failure=str(death))
            return
        middle = len(window) // 2
        for half in (window[:middle], window[middle:]):
            yield from _survivors(function, half, pool.submit(function, half), pool)


def buffered(items: Iterable[T], size: int) -> Iterator[T]:
    """Draw from an iterable in a thread, up to `size` items before they are asked for."""
    iterator = iter(items)
    thread = ThreadPoolExecutor(1, thread_name_prefix="buffer")
    try:
        drawn = deque(thread.submit(next, iterator, _END) for _ in range(size))
        while (item := drawn.popleft().result()) is not _END:
            drawn.append(thread.submit(next, iterator, _END))
            yield cast(T, item)
    finally:
        thread.shutdown(cancel_futures=True)
