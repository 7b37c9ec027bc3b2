"""What Ray does not tell a run: that the head of the cluster is lost, or has no room for it."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Mapping
from threading import Event, Thread

import ray

from partdino.errors import ClusterLostError

_LOOK_SECONDS = 3.0
# Ray ends the process itself after 60, in the midst of whatever it does, with exit code 1.
_LOST_SECONDS = 40.0
_ROOM_SECONDS = 30.0  # without a worker, until that is told
_AGAIN_SECONDS = 300.0  # until it is told again
_ANSWER_SECONDS = 10.0


class Watch:
    """Looks after a cluster, in a thread of its own, until it is ended or the head is lost.

    Parameters
    ----------
    lose
        Called once when the head has not answered for so long that it will not any more.
    wanted
        Returns what a worker takes, by Ray's names of resources, if workers are waited for and
        there is none; else None.
    warn
        Told that there is no room.
    """

    def __init__(
        self,
        lose: Callable[[ClusterLostError], None],
        wanted: Callable[[], Mapping[str, float] | None],
        warn: Callable[[str], None],
    ) -> None:
        self._lose, self._wanted, self._warn = lose, wanted, warn
        self._address = head_address()
        self._ended = Event()
        Thread(target=self._look, name="ray watch", daemon=True).start()

    def end(self) -> None:
        """Look no more."""
        self._ended.set()

    def _look(self) -> None:
        answered = had_room = time.monotonic()
        tell_at = had_room + _ROOM_SECONDS
        while not self._ended.wait(_LOOK_SECONDS):
            silent = reach(self._address)
            now = time.monotonic()
            if silent is not None:  # nor would it answer a question: Ray waits for ever
                if now - answered >= _LOST_SECONDS:
                    self._lose(_lost(self._address, now - answered))
                    return
                continue
            answered = now
            wanted = self._wanted()
            if wanted is None:
                had_room, tell_at = now, now + _ROOM_SECONDS
            elif now >= tell_at:
                self._warn(_no_room(wanted, now - had_room))
                tell_at = now + _AGAIN_SECONDS


def head_address() -> str:
    """Return where the head of the cluster is that this process is connected to.

    Empty where this process is a client of one, and `RAY_ADDRESS` does not say of which.
    """
    given = os.environ.get("RAY_ADDRESS", "")
    if given.startswith("ray://"):
        return given
    return getattr(ray.get_runtime_context(), "gcs_address", "")


def reach(address: str) -> OSError | OverflowError | None:
    """Return why nobody can be reached at ``host:port``; None where somebody listens."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        return None  # "auto", "local": for Ray to say
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_ANSWER_SECONDS).close()
    except (OSError, OverflowError) as error:
        return error
    return None


def _lost(address: str, seconds: float) -> ClusterLostError:
    return ClusterLostError(
        f"the head of the Ray cluster at {address} has not answered for {seconds:.0f} s: it was "
        "ended, or cannot be reached; what is done is kept: start the cluster again, and go on "
        "with --resume"
    )


def _no_room(wanted: Mapping[str, float], seconds: float) -> str:
    there, free = ray.cluster_resources(), ray.available_resources()
    takes = " and ".join(f"{number:g} {what}" for what, number in wanted.items())
    has = ", ".join(f"{free.get(what, 0):g} of {there.get(what, 0):g} {what}" for what in wanted)
    return (
        f"no worker has started on the Ray cluster for {seconds:.0f} s: each takes {takes}, and "
        f"free are {has}; waiting for room"
    )
