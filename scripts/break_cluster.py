"""Break a Ray cluster under `--engine ray`, in several ways; prints what comes of it.

    python scripts/break_cluster.py

- small store: photos that return 30 MB each by a head whose object store holds 80 MB.
- no memory: a photo takes more memory than Ray lets its machine have.
- no cluster: RAY_ADDRESS names one that is not there.
- head lost: the head is killed under a run.

The machines are those of bench_cluster.py.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench_cluster import ADDRESS, cluster, pool_of

_COMMAND = "from partdino.cli.main import main; main()"


def main() -> None:
    """Break what the command line names."""
    ways = {
        "small store": small_store,
        "no memory": no_memory,
        "no cluster": no_cluster,
        "head lost": head_lost,
    }
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ways", nargs="+", default=list(ways), choices=list(ways))
    for way in parser.parse_args().ways:
        print(f"{way}: {ways[way]()}", flush=True)


def small_store() -> str:
    """Have more come back at a time than the head's object store holds."""
    with cluster([2, 2]), pool_of() as pool:
        return results(pool, [(0.2, 30_000_000)] * 24)


def no_memory() -> str:
    """Have one photo of many take more memory than Ray leaves to its machine."""
    threshold = f"{used_share(1 << 30):.3f}"
    with (
        environment(RAY_memory_usage_threshold=threshold),
        cluster([1, 1]),
        pool_of() as pool,
    ):
        return results(pool, [(0.2, 1000)] * 6 + [(-2.0, 1000)] + [(0.2, 1000)] * 6)


def no_cluster() -> str:
    """Run where nobody listens at RAY_ADDRESS."""
    with rendered(8) as photos, environment(RAY_ADDRESS=f"{ADDRESS}:1"):
        return ending(start(photos))


def head_lost() -> str:
    """Kill the head under a run."""
    import ray

    with rendered(400) as photos, cluster([1], stubs=False) as machines:
        connect = f"ray.init('{machines.address}', _node_ip_address='{ADDRESS}')"
        run = start(photos, f"import ray; {connect}; {_COMMAND}")
        while run.poll() is None and not list(photos.parent.rglob("blocks/*")):
            time.sleep(0.5)
        ray.shutdown()  # this process shall outlive the head
        machines.head_node.kill_all_processes(check_alive=False, allow_graceful=False)
        return ending(run)


def results(pool: Any, photos: list[tuple[float, int]]) -> str:
    """Put photos through the pool; say what became of them, and of what they failed."""
    from break_cluster import describe  # the workers know it by this name

    from partdino.engine.outcomes import Outcome, run_stage

    given = (Outcome(f"{index}", photo) for index, photo in enumerate(photos))
    start = time.perf_counter()
    said: Counter[str] = Counter()
    for index, outcome in enumerate(run_stage("photo", describe, given, pool)):
        assert outcome.name == f"{index}", outcome.name
        said[outcome.failure or "came back"] += 1
    counts = ", ".join(f"{number} {what}" for what, number in said.items())
    return f"{counts}; {time.perf_counter() - start:.0f} s"


def describe(photo: tuple[float, int]) -> bytes:
    """Sleep, or, where the seconds are negative, take as many GB; return bytes."""
    seconds, size = photo
    taken = []
    for _ in range(int(-seconds * 100)):
        taken.append(os.urandom(10_000_000))
        time.sleep(0.02)
    time.sleep(abs(seconds))
    return bytes(size)


def used_share(more: int) -> float:
    """Return the share of the memory that is in use when so many bytes more are."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    kilobytes = {line.split(":")[0]: int(line.split()[1]) for line in lines}
    return 1 - (kilobytes["MemAvailable"] - more / 1024) / kilobytes["MemTotal"]


@contextmanager
def environment(**variables: str) -> Iterator[None]:
    """Set variables of the environment inside the block."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            os.environ.pop(name)
            os.environ |= {name: before[name]} if name in before else {}


@contextmanager
def rendered(images: int) -> Iterator[Path]:
    """Yield a folder of photos."""
    from partdino.evaluation.synth import write_layout

    with TemporaryDirectory(prefix="partdino-break-") as folder:
        write_layout("photos", Path(folder) / "synth", images=images, seed=0, size=96)
        yield Path(folder) / "synth" / "images"


def start(photos: Path, command: str = _COMMAND) -> subprocess.Popen:
    """Start `partdino features --engine ray` of a folder of photos."""
    small = ("--boundaries", "none", "--image-size", "96", "--region-size", "64")
    arguments = ("features", photos, "--out", photos.parent / "out", *small, "--engine", "ray")
    whole = [sys.executable, "-c", command, *map(str, arguments)]
    return subprocess.Popen(whole, stderr=subprocess.PIPE, text=True)


def ending(run: subprocess.Popen) -> str:
    """Wait for a run, and say how it ended."""
    begin = time.perf_counter()
    try:
        lines = run.communicate(timeout=240)[1].strip().splitlines()
    except subprocess.TimeoutExpired:
        run.kill()
        return "hangs for 4 minutes"
    seconds = time.perf_counter() - begin
    return f"exit code {run.returncode} after {seconds:.0f} s: {(lines or ['nothing'])[-1]}"


if __name__ == "__main__":
    main()
