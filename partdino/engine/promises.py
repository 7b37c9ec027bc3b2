"""Futures that can be broken from outside, where what is behind them may never end."""

from __future__ import annotations

from concurrent.futures import Future
from functools import partial
from threading import Lock


class Promises:
    """Futures of what other futures come to, until all are broken."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._open: set[Future] = set()
        self._error: BaseException | None = None

    def of(self, running: Future) -> Future:
        """Return a future that comes to the same as another one, unless it is broken before."""
        promise: Future = Future()
        with self._lock:
            self._open.add(promise)
        running.add_done_callback(partial(self._keep, promise))
        if self._error is not None:
            self.break_all(self._error)
        return promise

    def break_all(self, error: BaseException) -> None:
        """Have all that are not kept yet raise an error, and all that are still to be made."""
        with self._lock:
            self._error = error
            broken = [promise for promise in self._open if promise.set_running_or_notify_cancel()]
            self._open.clear()
        for promise in broken:
            promise.set_exception(error)

    def _keep(self, promise: Future, running: Future) -> None:
        with self._lock:
            if promise not in self._open:
                return
            self._open.remove(promise)
        if running.cancelled():
            promise.cancel()
        if not promise.set_running_or_notify_cancel():
            return
        if (error := running.exception()) is not None:
            promise.set_exception(error)
        else:
            promise.set_result(running.result())
