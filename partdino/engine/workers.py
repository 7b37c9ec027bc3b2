"""Worker processes, each waited for by a thread: one that dies takes no other with it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import cache
from multiprocessing import get_all_start_methods, get_context, parent_process
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Lock, Thread
from types import ModuleType
from typing import Any

from partdino.engine.memory import ask_for_huge_pages
from partdino.engine.pool import TRIES, Pool, WorkerDied, answer, result_of
from partdino.engine.threads import compute_with_one_thread

_main_lock = Lock()


class WorkerPool(Pool):
    """Processes of this machine, started when first needed.

    Parameters
    ----------
    workers
        See `Pool`.
    modules
        What the tasks compute with, see `compute_with_one_thread`.
    """

    def __init__(self, workers: int, modules: Sequence[str] = ()) -> None:
        super().__init__(workers)
        self._modules = tuple(modules)
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
            worker = _Worker(self._modules)
            self._alive.add(worker)
        return worker

    def _bury(self, worker: _Worker) -> None:
        with self._lock:
            self._alive.discard(worker)
        worker.kill()


class _Worker:
    """One process, and this side of the pipe to it."""

    def __init__(self, modules: tuple[str, ...]) -> None:
        context = _context(modules)
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, modules), daemon=True)
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
def _context(modules: tuple[str, ...]) -> Any:
    ask_for_huge_pages()
    # Not forked from here: a fork copies the locks of torch's threads in whatever state they are.
    if "forkserver" not in get_all_start_methods():
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload(list(modules))  # imported once, by what workers are forked from
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


def _serve(connection: Connection, modules: tuple[str, ...]) -> None:
    """Run tasks until the process is killed."""
    # Ctrl-C reaches every process of a terminal: the main one ends the run, in its own words.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    compute_with_one_thread(modules)
    while True:
        connection.send_bytes(answer(connection.recv_bytes()))


def _end_with_parent() -> None:
    # Where the main process is killed, nobody tells its workers that there is no more work.
    if (parent := parent_process()) is not None:
        parent.join()
    os._exit(1)
