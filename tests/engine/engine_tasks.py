"""What the tests of the engine have worker processes do."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from partdino.engine.outcomes import Outcome, try_stage
from partdino.images import LoadedImage, read_image


def process_of(value: object) -> int:
    """Return the number of the process that this runs in."""
    return os.getpid()


def die_of(value: object) -> object:
    """Kill the process that gets the value "poison"; return others."""
    if value == "poison":
        os.kill(os.getpid(), signal.SIGKILL)
    return value


def die_once(flag: Path) -> str:
    """Kill the first process that gets this flag, which does not exist yet."""
    if not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return flag.name


def refuse(value: object) -> None:
    """Raise an error."""
    raise ValueError(f"not {value}")


def sleep(seconds: float) -> None:
    """Be busy for a while."""
    time.sleep(seconds)


def sigint_handler(value: object) -> signal.Handlers:
    """Return what Ctrl-C does here."""
    return signal.getsignal(signal.SIGINT)


class Unloadable:
    """Something that a worker cannot receive."""

    def __reduce__(self):
        return refuse, ("loadable",)


def burn(seconds: float) -> None:
    """Use processor time."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


class DeadlyPhoto:
    """Reads a photo, but kills the first process that does so."""

    def __init__(self, path: Path, flag: Path) -> None:
        self._path, self._flag = path, flag

    def __call__(self, max_pixels: int) -> LoadedImage:
        die_once(self._flag)
        return read_image(self._path, max_pixels)


def all_die_of(outcomes: list[Outcome]) -> list[Outcome]:
    """Do `die_of` to the values of several outcomes."""
    return [try_stage("die", die_of, outcome) for outcome in outcomes]


def on_a_dead_device(value: object) -> object:
    raise RuntimeError("CUDA error: uncorrectable ECC error encountered\nCompile with ...")


def place_of(value: object) -> tuple[object, str]:
    """Return a value after a while, and which machine of a Ray cluster this is."""
    import ray

    time.sleep(0.3)
    return value, ray.get_runtime_context().get_node_id()


class Holder:
    """Holds what its actor takes of a Ray cluster."""

    def ready(self) -> None:
        """Return once it does."""
