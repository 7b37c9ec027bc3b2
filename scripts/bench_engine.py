"""Measure the engine that describes images; prints tables.

    python scripts/bench_engine.py PHOTOS --images 100 400 1600
    python scripts/bench_engine.py --images 2000

A few photos of the folder PHOTOS, cut to 500x375, are repeated under other names up to each number
of images, and described to a folder as `partdino segment` does, each time by a fresh process.
Without PHOTOS, so many photos are rendered, in many shapes. The smallest number is described a
second time without workers and with one thread, one stage after the other: the ratios of the other
tables are to that run's times.

- Images: against their number, the time that describing takes, with the start of the workers; the
  processor time of all processes, start to end, against the sum of the stages' own in the same run;
  which share of the cores they kept busy while describing; and their peak memory (PSS: what
  processes share is counted once).
- Stages: seconds an image in the run without workers.
- End to end: against the network's forward pass alone, and against all stages one after another.
- Start-up: of `partdino --help`, the best of five.

Other programs on the same cores lower the busy share. Works on Linux only, whose /proc it reads.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

_SIZE = (500, 375)
_SIDES = (300, 501)  # of rendered photos
_DISTINCT = 16  # photos
_SAMPLE_SECONDS = 2.0
_TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Run the measurements that the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("photos", type=Path, nargs="?", help="folder of JPEG photos")
    parser.add_argument("--images", type=int, nargs="+", default=[100, 400, 1600])
    parser.add_argument("--backbone", default="efficientnet-lite2")
    parser.add_argument("--boundaries", default="auto")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--workers", default="auto")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)  # one run: see `measure`
    arguments = vars(parser.parse_args())
    photos, numbers, folder = (arguments.pop(name) for name in ("photos", "images", "folder"))
    if folder is not None:
        print(json.dumps(describe(folder, arguments)))
        return
    with TemporaryDirectory(prefix="partdino-bench-") as work:
        folders = {n: fill(Path(work) / f"{n}", n, photos) for n in sorted(numbers)}
        runs = {number: measure(folder, arguments) for number, folder in folders.items()}
        alone = measure(folders[min(numbers)], {**arguments, "workers": "0"}, threads=1)
    print_images(runs)
    print_stages(alone)
    print_end_to_end(runs[min(numbers)], alone)
    print_start_up()


def fill(folder: Path, number: int, photos: Path | None) -> Path:
    """Return the folder, in which there are now so many photos."""
    folder.mkdir()
    if photos is None:
        render(folder, number)
    else:
        repeat(photos, number, folder)
    return folder


def render(folder: Path, number: int) -> None:
    """Fill a folder with so many rendered photos, hardly two of one shape."""
    from partdino.evaluation.synth.output import image_rng, write_jpeg
    from partdino.evaluation.synth.scene import render_animal

    for index in range(number):
        rng = image_rng(0, index)
        height, width = map(int, rng.integers(*_SIDES, 2))
        write_jpeg(folder / f"{index:06}.jpg", render_animal(rng, height, width).image)


def repeat(photos: Path, number: int, folder: Path) -> None:
    """Fill a folder with so many names of a few photos, cut to one size."""
    from PIL import Image, ImageOps

    originals = sorted(photos.rglob("*.jpg"))
    originals = originals[:: max(1, len(originals) // _DISTINCT)][:_DISTINCT]
    if not originals:
        raise SystemExit(f"{photos} holds no .jpg photos")
    for index in range(number):
        path = folder / f"{index:06}.jpg"
        if index < len(originals):
            image = Image.open(originals[index]).convert("RGB")
            ImageOps.fit(image, _SIZE).save(path, quality=92)
        else:
            os.link(folder / f"{index % len(originals):06}.jpg", path)


def measure(folder: Path, options: Mapping[str, str], threads: int | None = None) -> dict[str, Any]:
    """Describe a folder of images in a fresh process; return what `describe` returns."""
    flags = [text for name, value in options.items() for text in (f"--{name}", value)]
    command = [sys.executable, __file__, "--folder", str(folder), *flags]
    limits = {} if threads is None else {"OMP_NUM_THREADS": f"{threads}"}
    print(f"{folder}, {options['workers']} workers ...", file=sys.stderr)
    done = subprocess.run(command, env={**os.environ, **limits}, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def describe(folder: Path, given: Mapping[str, str]) -> dict[str, Any]:
    """Describe the images of a folder in this process and its workers, and measure it."""
    from partdino.describe.placement import describe_images
    from partdino.describe.settling import settle
    from partdino.describe.source import Source
    from partdino.engine.pools import worker_pool
    from partdino.options import validate
    from partdino.runs.store import DescriptionStore

    backbone, options, _ = settle(validate(given))
    store = DescriptionStore(folder.with_name(f"{folder.name}-store"))
    sources = [Source(path.name, path) for path in sorted(folder.iterdir())]
    seconds: Counter[str] = Counter()
    cpu_seconds: Counter[str] = Counter()
    marks = []
    with peak_memory() as peak, worker_pool(options.workers) as pool:
        marks.append((time.perf_counter(), processor_seconds()))
        for outcome in describe_images(sources, backbone, options, pool):
            if outcome.failure is not None:
                raise SystemExit(f"{outcome.name}: {outcome.failure}")
            start, cpu_start = time.perf_counter(), time.thread_time()
            store.write(outcome.name, outcome.value)
            seconds["write"] += time.perf_counter() - start
            cpu_seconds["write"] += time.thread_time() - cpu_start
            seconds.update(outcome.seconds)
            cpu_seconds.update(outcome.cpu_seconds)
        marks.append((time.perf_counter(), processor_seconds()))
    (start, cpu_start), (end, cpu_end) = marks
    return {
        "images": len(sources),
        "wall": end - start,
        "cpu": cpu_end - peak.cpu_seconds,
        "busy": (cpu_end - cpu_start) / (end - start) / len(os.sched_getaffinity(0)),
        "peak": peak.megabytes,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
    }


@dataclass
class Peak:
    """The most memory that this process and its descendants had together, and what asking cost."""

    megabytes: float = 0.0
    cpu_seconds: float = 0.0


@contextmanager
def peak_memory() -> Iterator[Peak]:
    """Yield what holds the peak memory of the block when it has ended."""
    peak, ended = Peak(), Event()

    def watch() -> None:
        while not ended.wait(_SAMPLE_SECONDS):
            peak.megabytes = max(peak.megabytes, sum(map(proportional_memory, family())))
            peak.cpu_seconds = time.thread_time()

    thread = Thread(target=watch)
    thread.start()
    try:
        yield peak
    finally:
        ended.set()
        thread.join()


def family() -> list[int]:
    """Return the ids of this process and of all its descendants."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        fields = stat_fields(path)
        if fields:
            parents[int(path.parent.name)] = int(fields[1])
    members = [os.getpid()]
    for member in members:  # grows on the way
        members += [process for process, parent in parents.items() if parent == member]
    return members


def stat_fields(path: Path) -> list[str]:
    """Return the fields of a process after its name, from the third on; none if it has ended."""
    try:
        return path.read_text().rpartition(")")[2].split()
    except OSError:
        return []


def proportional_memory(process: int) -> float:
    """Return the MB of a process, what it shares with others divided among them."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)


def processor_seconds() -> float:
    """Return the processor time of this process and of all its descendants so far."""
    fields = [stat_fields(Path(f"/proc/{process}/stat")) for process in family()]
    return sum(int(ticks) for each in fields for ticks in each[11:15]) / _TICKS


def print_images(runs: Mapping[int, Mapping[str, Any]]) -> None:
    """Print the table of what changes with the number of images."""
    rows = []
    for number, run in runs.items():
        stages = sum(run["cpu_seconds"].values())
        rows.append(
            (
                f"{number}",
                f"{run['wall']:.1f}",
                f"{run['wall'] / number:.3f}",
                f"{run['cpu']:.1f}",
                f"{stages:.1f}",
                f"{run['cpu'] / stages:.3f}",
                f"{run['busy']:.0%}",
                f"{run['peak']:.0f}",
            )
        )
    titles = ("images", "s", "s/image", "CPU s", "stages' CPU s", "ratio", "cores busy", "peak MB")
    print_table("Images", titles, rows)


def print_stages(alone: Mapping[str, Any]) -> None:
    """Print the table of what the time goes to."""
    total, number = sum(alone["seconds"].values()), alone["images"]
    rows = [
        (stage, f"{seconds / number:.3f}", f"{seconds / total:.0%}")
        for stage, seconds in alone["seconds"].items()
    ]
    print_table("Stages", ("stage", "s/image", "share"), rows)


def print_end_to_end(run: Mapping[str, Any], alone: Mapping[str, Any]) -> None:
    """Print how the whole compares with its parts."""
    whole, stages = run["wall"], sum(alone["seconds"].values())
    forward = alone["seconds"]["features"]
    rows = [
        ("end to end", f"{whole / run['images']:.3f}", "1"),
        ("forward pass alone", f"{forward / run['images']:.3f}", f"{whole / forward:.2f}"),
        ("stages one after another", f"{stages / run['images']:.3f}", f"{whole / stages:.2f}"),
    ]
    print_table("End to end", ("what", "s/image", "end to end / this"), rows)


def print_start_up() -> None:
    """Print how long the command takes to say how it is used, and whether it waits for torch."""
    command = [sys.executable, "-c", "from partdino.cli.main import main; main()", "--help"]
    times = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - start)
    code = "import sys, partdino.cli.main; print('torch' in sys.modules)"
    torch = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    imported = "yes" if torch.stdout.strip() == "True" else "no"
    rows = [("partdino --help", f"{min(times):.2f}", imported)]
    print_table("Start-up", ("command", "s", "imports torch"), rows)


def print_table(title: str, titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table in Markdown."""
    print(f"\n{title}\n")
    for row in (titles, ["---"] * len(titles), *rows):
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
