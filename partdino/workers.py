"""Worker processes, each waited for by a thread: one that dies takes no other with it."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from multiprocessing import get_all_start_methods, get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.util import Finalize
from queue import SimpleQueue
from threading import Lock, Thread
from types import ModuleType
from typing import Any, Literal

import joblib

from partdino.errors import ConfigError, PartDinoError
from partdino.threads import STAGES, compute_with_one_thread

TRIES = 2  # a task that two workers die of has killed them; the first may have died of another
_PROTOCOL = 5  # of pickle: arrays are copied once
_main_lock = Lock()


class WorkerDied(PartDinoError):
    """A task ended the worker processes that it ran in."""

    def __init__(self) -> None:
        super().__init__(
            "it ended its worker process twice, most likely for want of memory; pass fewer "
            "--workers or scale it down"
        )


@contextmanager
def worker_pool(
    workers: int | Literal["auto"],
    engine: Literal["local", "ray"] = "local",
    device: str = "cpu",
) -> Iterator[Pool | None]:
    """Yield a pool of worker processes, which end with the block.

    Parameters
    ----------
    workers
        How many; "auto" is one for each core that this process may use, or as
        `partdino.ray_engine.RayPool` has it. For 0, None is yielded.
    engine
        Where they run: on this machine, or on a Ray cluster.
    device
        What workers on a cluster compute on.

    Raises
    ------
    ConfigError
        There is no Ray, or no such device on the cluster.
    """
    if workers == 0:
        yield None
        return
    pool = _ray_pool(workers, device) if engine == "ray" else WorkerPool(count(workers))
    try:
        yield pool
    finally:
        pool.shutdown()


def count(workers: int | Literal["auto"]) -> int:
    """Return how many workers suit this machine where it is left open."""
    return joblib.cpu_count() if workers == "auto" else workers


def _ray_pool(workers: int | Literal["auto"], device: str) -> Pool:
    try:
        from partdino.ray_engine import RayPool
    except ImportError as error:
        raise ConfigError("--engine ray needs Ray: pip install 'partdino[ray]'") from error
    return RayPool(workers, device)


class Pool(Executor):
    """An executor of processes that take a task at a time each, and are replaced when they die.

    Each is waited for by a thread.

    Parameters
    ----------
    workers
        The number of processes. Each computes with one thread.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="worker")
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


class WorkerPool(Pool):
    """Processes of this machine, started when first needed.

    Parameters
    ----------
    workers
        See `Pool`.
    """

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self._idle: SimpleQueue[_Worker | None] = SimpleQueue()
        for _ in range(workers):
            self._idle.put(None)
        self._alive: set[_Worker] = set()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """End the processes at once, whatever they are at."""
        with self._lock:
            self._closed = True
            for worker in self._alive:
                worker.kill()
        self._threads.shutdown(wait, cancel_futures=cancel_futures)

    def _run(self, task: bytes) -> Any:
        worker = self._idle.get()
        try:
            for _ in range(TRIES):
                worker = worker or self._start()
                try:
                    reply = worker.call(task)
                except (EOFError, OSError):
                    self._bury(worker)
                    worker = None
                else:
                    break
            else:
                raise WorkerDied
        finally:
            self._idle.put(worker)
        return result_of(reply)

    def _start(self) -> _Worker:
        with self._lock:
            if self._closed:
                raise CancelledError
            worker = _Worker()
            self._alive.add(worker)
        return worker

    def _bury(self, worker: _Worker) -> None:
        with self._lock:
            self._alive.discard(worker)
        worker.kill()


class _Worker:
    """One process, and this side of the pipe to it."""

    def __init__(self) -> None:
        self._connection, theirs = _context().Pipe()
        self._process = _context().Process(target=_serve, args=(theirs,), daemon=True)
        with _main_unseen(), _deaf():
            self._process.start()
        theirs.close()  # only the worker holds that end: reading fails when it dies

    def call(self, task: bytes) -> bytes:
        """Run a pickled task; return the reply, see `answer`."""
        self._connection.send_bytes(task)
        return self._connection.recv_bytes()

    def kill(self) -> None:
        self._process.kill()
        self._process.join()


@cache
def _context() -> Any:
    # Not forked from here: a fork copies the locks of torch's threads in whatever state they are.
    if "forkserver" not in get_all_start_methods():
        return get_context("spawn")
    from multiprocessing import forkserver

    context = get_context("forkserver")
    context.set_forkserver_preload(list(STAGES))  # imported once, by what workers are forked from
    # Waited for at the very end, so that the workers' processor time is counted as this process's.
    Finalize(None, forkserver._forkserver._stop, exitpriority=-10)
    return context


@contextmanager
def _main_unseen() -> Iterator[None]:
    """Keep a process that starts from running the main script again, which it has no use for."""
    with _main_lock:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


@contextmanager
def _deaf() -> Iterator[None]:
    """Keep Ctrl-C from a process that starts, until it has chosen not to hear it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(connection: Connection) -> None:
    """Run tasks until the process is killed."""
    # Ctrl-C reaches every process of a terminal: the main one ends the run, in its own words.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    compute_with_one_thread()
    while True:
        connection.send_bytes(answer(connection.recv_bytes()))


def _end_with_parent() -> None:
    # Where the main process is killed, nobody tells its workers that there is no more work.
    parent_process().join()
    os._exit(1)


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
