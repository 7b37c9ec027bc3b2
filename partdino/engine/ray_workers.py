"""Workers on a Ray cluster; everything else of a run stays where it was started."""

from __future__ import annotations

import logging
import math
import os
import signal
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from queue import Empty, SimpleQueue
from typing import Any, Literal

import ray
from ray.actor import ActorHandle
from ray.exceptions import RayError

from partdino.engine.memory import ask_for_huge_pages
from partdino.engine.pool import TRIES, Pool, WorkerDied, answer, count, result_of
from partdino.engine.promises import Promises
from partdino.engine.ray_watch import Watch, reach
from partdino.engine.threads import compute_with_one_thread
from partdino.errors import ClusterLostError, ConfigError

_MOST = 256  # workers: each is waited for by a thread


class RayPool(Pool):
    """Actors of a Ray cluster, each in a process of its own on one core.

    One is asked for whenever a task finds none idle, so that a cluster that scales sees what the
    queue needs. A worker that is lost, alone or with its machine, is replaced in the same way; its
    task goes to the next one that is idle. The cluster is the one that this process is connected
    to, else that of the environment variable ``RAY_ADDRESS`` or of this machine; where there is
    none, Ray is started on this machine and ended with the pool.

    Where the cluster's head is lost, all futures raise `ClusterLostError`, and this process has
    some seconds until Ray ends it.

    Parameters
    ----------
    workers
        The most there may be; "auto" begins with one for each core, or each GPU, and asks for as
        many again as have started: where the cluster grows, so does the pool.
    device
        "cpu" or "cuda". A worker has a GPU; where there are more workers than GPUs, the same
        share of one.
    modules
        What the tasks compute with, see `compute_with_one_thread`.
    warn
        Told every few minutes if the cluster has no room for a worker.

    Raises
    ------
    ConfigError
        The cluster cannot be reached, or it has no GPU.
    """

    def __init__(
        self,
        workers: int | Literal["auto"],
        device: str = "cpu",
        modules: Sequence[str] = (),
        warn: Callable[[str], None] = warnings.warn,
    ) -> None:
        self._modules = tuple(modules)
        self._owns_ray = _connect(workers)
        self._ready: SimpleQueue[ActorHandle | BaseException | None] = SimpleQueue()
        self._alive: set[ActorHandle] = set()  # and those that wait for room
        self._started: set[ActorHandle] = set()
        try:
            number, self._gpus = _divide(workers, device)
        except ConfigError:
            self._disconnect()
            raise
        self._grows = workers == "auto"
        self._most = _MOST if self._grows else number
        super().__init__(number, self._most)
        self._promises = Promises()
        self._lost = False
        self._watch = Watch(self._lose, self._wanted, warn)

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future:
        """Run a function in one of the processes; see `Pool.submit`.

        Its future raises `ClusterLostError`, too, where the thread behind it waits for ever.
        """
        return self._promises.of(super().submit(function, *arguments, **named))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """End the processes at once, whatever they are at."""
        self._watch.end()
        if self._lost:  # no call of Ray's returns any more
            self._threads.shutdown(wait=False, cancel_futures=True)
            return
        with self._lock:
            self._closed = True
            for actor in self._alive:
                ray.kill(actor)
        for _ in range(self._most):
            self._ready.put(None)  # for the threads that wait for a worker
        self._threads.shutdown(wait, cancel_futures=cancel_futures)
        self._disconnect()

    def _run(self, task: bytes) -> Any:
        for attempt in range(TRIES):
            # One that was lost while it was idle takes the first task that it is given with it.
            actor = self._living() if attempt else self._next()
            try:
                reply = ray.get(actor.answer.remote(task))
            except RayError:
                self._replace(actor)
            else:
                self._ready.put(actor)
                return result_of(reply)
        raise WorkerDied

    def _living(self) -> ActorHandle:
        """Return a worker that answers: what it dies of is the task."""
        while True:
            actor = self._next()
            try:
                ray.get(actor.ready.remote())
            except RayError:
                self._replace(actor)
            else:
                return actor

    def _next(self) -> ActorHandle:
        try:
            actor = self._ready.get_nowait()
        except Empty:
            self._ask_for_another()
            actor = self._ready.get()
        if actor is None:
            raise CancelledError
        if isinstance(actor, BaseException):
            self._ready.put(actor)  # it holds for every task
            reason = str(actor).strip().splitlines()[-1]
            raise ConfigError(
                f"Ray's workers cannot start ({reason}); install the same Part-DINO on every "
                "machine of the cluster"
            )
        return actor

    def _ask_for_another(self) -> None:
        with self._lock:
            if self._closed:
                raise CancelledError
            if len(self._alive) >= (min(2 * self.workers, _MOST) if self._grows else self.workers):
                return
            kind: Any = ray.remote(num_cpus=1, num_gpus=self._gpus)(_Worker)
            actor = kind.remote(self._modules)
            self._alive.add(actor)

        def started(future: Future) -> None:
            error = future.exception()
            if getattr(error, "actor_init_failed", False):
                self._ready.put(error)
            else:
                self._started.add(actor)
                if self._grows:
                    self.workers = max(self.workers, len(self._started))
                self._ready.put(actor)

        actor.ready.remote().future().add_done_callback(started)

    def _replace(self, actor: ActorHandle) -> None:
        with self._lock:
            self._alive.discard(actor)
            self._started.discard(actor)
        ray.kill(actor)  # it may be alive where the way to it is not
        self._ask_for_another()

    def _wanted(self) -> Mapping[str, float] | None:
        """Return what a worker takes, if some are waited for and there is none."""
        if self._started or not self._alive:
            return None
        return {"CPU": 1, **({"GPU": self._gpus} if self._gpus else {})}

    def _lose(self, error: ClusterLostError) -> None:
        self._lost = True
        self._promises.break_all(error)

    def _disconnect(self) -> None:
        if self._owns_ray:
            ray.shutdown()


class _Worker:
    def __init__(self, modules: tuple[str, ...]) -> None:
        ask_for_huge_pages()
        compute_with_one_thread(modules)

    def ready(self) -> None:
        """Return once the process has started."""

    def answer(self, task: bytes) -> bytes:
        return answer(task)


def _connect(workers: int | Literal["auto"]) -> bool:
    """Connect to a cluster if there is no connection yet; return whether that was needed."""
    if ray.is_initialized():
        return False
    quiet: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    _check_reachable(os.environ.get("RAY_ADDRESS", ""))
    handler = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(address="auto", **quiet)
    except ConnectionError as error:
        if address := os.environ.get("RAY_ADDRESS"):
            raise _unreachable(address, _words(error)) from error
        _start(count(workers), quiet)
    finally:
        signal.signal(signal.SIGTERM, handler)  # Ray's own ends a run without a word
    return True


def _check_reachable(address: str) -> None:
    """Raise `ConfigError` where nobody listens at an address: Ray itself tries for minutes."""
    if error := reach(address):
        raise _unreachable(address, str(error)) from error


def _unreachable(address: str, reason: str) -> ConfigError:
    return ConfigError(
        f"the Ray cluster at RAY_ADDRESS {address} cannot be reached ({reason}); start one "
        "there or unset RAY_ADDRESS"
    )


def _start(cores: int, quiet: dict[str, Any]) -> None:
    try:
        ray.init(address="local", num_cpus=cores, include_dashboard=False, **quiet)
    except Exception as error:  # of no special class where the machine is too busy
        raise ConfigError(
            f"Ray does not start on this machine ({_words(error)}); try again, or --engine local"
        ) from error


def _words(error: Exception) -> str:
    return f"{' '.join(str(error).split()):.200}"


def _divide(workers: int | Literal["auto"], device: str) -> tuple[int, float]:
    """Return how many workers there are, and what share of a GPU each one has."""
    resources = ray.cluster_resources()
    if device == "cpu":
        return (max(1, int(resources.get("CPU", 0))) if workers == "auto" else workers), 0
    gpus = int(resources.get("GPU", 0))
    if gpus == 0:
        raise ConfigError(f"the Ray cluster has no GPU for --device {device}; pass --device cpu")
    number = gpus if workers == "auto" else workers
    return number, 1 / math.ceil(number / gpus)
