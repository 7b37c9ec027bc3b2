"""Measure `--engine ray` on several machines, all of them on this one; prints two tables.

    python scripts/bench_cluster.py --machines 1x1 2x1 3x1 4x16

`4x16` is a head that computes nothing and four machines that say they have 16 cores each. A photo
is a stage that sleeps as long as a photo takes and returns as many bytes, so that there may be more
workers than this machine has cores; what they import is a stub of torch and of cv2, so that it has
memory for them. The processor time of all workers' messages is that of this machine alone.

- Throughput: photos a second from the time all workers have started, against the number of workers
  divided by the seconds of a photo; and the processor time a photo, of this process, which leads,
  and of all processes, which limits what two cores can show of many workers.
- Memory: of this process and of the head's, on the way.

Linux only: every machine has the loopback address 127.0.0.2, which no other can reach.
"""

from __future__ import annotations

import argparse
import logging
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench_engine import processor_seconds

ADDRESS = "127.0.0.2"  # Ray takes 127.0.0.1 for the machine's own
STORE = 80 << 20  # bytes, about the least that Ray allows
_STUBS = {"torch": "def set_num_threads(n): pass\n", "cv2": "def setNumThreads(n): pass\n"}
_EACH = 12  # photos a worker
_MEMORY_PHOTOS = 300


def main() -> None:
    """Run the measurements that the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--machines", nargs="+", default=["1x1", "2x1", "3x1", "4x16"])
    parser.add_argument("--seconds", type=float, default=1.5, help="that a photo takes")
    parser.add_argument("--megabytes", type=float, default=2.8, help="that come back for a photo")
    arguments = parser.parse_args()
    photo = (arguments.seconds, int(arguments.megabytes * 1e6))
    rows = []
    for machines in arguments.machines:
        number, cores = map(int, machines.split("x"))
        rows.append((machines, *throughput([cores] * number, photo)))
    titles = (
        "machines",
        "workers",
        "photos",
        "s",
        "photos/s",
        "of linear",
        "CPU ms a photo",
        "of all",
    )
    print_table(titles, rows)
    print_table(("photos", "this process MB", "head MB"), memory(photo))


def throughput(cores: Sequence[int], photo: tuple[float, int]) -> tuple[str, ...]:
    """Return a row of the table: what machines of so many cores each do in a second."""
    with cluster(cores), pool_of() as pool:
        workers = sum(cores)
        wait_for_all(pool, workers)
        number = _EACH * workers
        start, own, all_of = time.perf_counter(), time.process_time(), processor_seconds()
        for _ in photos(pool, photo, number):
            pass
        seconds = time.perf_counter() - start
        milliseconds = 1000 / number
        own = milliseconds * (time.process_time() - own)
        all_of = milliseconds * (processor_seconds() - all_of)
    linear = number * photo[0] / workers
    measured = (seconds, number / seconds, linear / seconds, own, all_of)
    return f"{workers}", f"{number}", *(f"{value:.2f}" for value in measured)


def memory(photo: tuple[float, int]) -> list[tuple[str, ...]]:
    """Return the memory of this process and of the head's after some photos and after more."""
    rows = []
    with cluster([1, 1, 1]) as machines, pool_of() as pool:
        wait_for_all(pool, 3)
        for index, _ in enumerate(photos(pool, (0.1 * photo[0], photo[1]), _MEMORY_PHOTOS), 1):
            if index % 50 == 0:
                head = sum(map(resident_megabytes, head_processes(machines)))
                rows.append((f"{index}", f"{resident_megabytes(os.getpid()):.0f}", f"{head:.0f}"))
    return rows


@contextmanager
def cluster(cores: Sequence[int], stubs: bool = True) -> Iterator[Any]:
    """Yield a cluster that this process is connected to, a machine for each number of cores.

    Parameters
    ----------
    cores
        Of the machines beside the head, which computes nothing.
    stubs
        Whether workers import nothing large.
    """
    import ray
    from ray.cluster_utils import Cluster

    folder = Path(tempfile.mkdtemp(prefix="ray"))  # the path of a socket may have 107 characters
    for name, code in _STUBS.items() if stubs else ():
        (folder / f"{name}.py").write_text(code)
    paths = (str(folder), str(Path(__file__).parent), os.environ.get("PYTHONPATH", ""))
    os.environ |= {"RAY_TMPDIR": str(folder), "PYTHONPATH": os.pathsep.join(paths)}
    node = {"node_ip_address": ADDRESS, "include_dashboard": False}
    head = {**node, "num_cpus": 0, "object_store_memory": STORE}
    machines = Cluster(initialize_head=True, head_node_args=head)
    try:
        for number in cores:
            machines.add_node(num_cpus=number, object_store_memory=4 * STORE, **node)
        quiet = {"logging_level": logging.ERROR, "log_to_driver": False}
        ray.init(address=machines.address, _node_ip_address=ADDRESS, **quiet)
        yield machines
    finally:
        ray.shutdown()
        machines.shutdown()
        os.environ["PYTHONPATH"] = paths[-1]
        shutil.rmtree(folder, ignore_errors=True)


def pool_of() -> Any:
    """Open the pool that `--engine ray` opens."""
    from partdino.engine.pools import worker_pool

    return worker_pool("auto", "ray")


def photos(pool: Any, photo: tuple[float, int], number: int) -> Iterator[Any]:
    """Put so many photos through the pool; raises where one fails or comes out of turn."""
    from bench_cluster import describe  # the workers know it by this name

    from partdino.engine.outcomes import Outcome, run_stage

    given = (Outcome(f"{index}", photo) for index in range(number))
    for index, outcome in enumerate(run_stage("photo", describe, given, pool)):
        if outcome.failure is not None or outcome.name != f"{index}":
            raise SystemExit(f"photo {index}: {outcome.name} {outcome.failure}")
        yield outcome.result


def describe(photo: tuple[float, int]) -> tuple[int, bytes]:
    """Do as a photo does: take its time, and return its bytes, and which process this is."""
    seconds, size = photo
    time.sleep(seconds)
    return os.getpid(), bytes(size)


def wait_for_all(pool: Any, workers: int) -> None:
    """Return once so many workers have started."""
    seen: set[int] = set()
    while len(seen) < workers:
        seen |= {process for process, _ in photos(pool, (0.2, 0), 2 * workers)}
    print(f"{workers} workers have started", file=sys.stderr)


def head_processes(machines: Any) -> list[int]:
    """Return the ids of the head's processes."""
    kinds = machines.head_node.all_processes
    return [each.process.pid for kind in ("gcs_server", "raylet") for each in kinds[kind]]


def resident_megabytes(process: int) -> float:
    """Return the memory that a process has and shares with no file or other process."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("RssAnon:"))


def print_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table in Markdown."""
    print()
    for row in (titles, ["---:"] * len(titles), *rows):
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
