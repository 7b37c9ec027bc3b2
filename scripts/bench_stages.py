"""Measure the processor time that describing a photo takes; prints tables.

    python scripts/bench_stages.py PHOTOS --images 16 --against ../older/checkout

Photos of the folder PHOTOS, evenly spread, are described by one process and one thread, in turns:
as `--precision auto` has it, in fp32, and by the code of other checkouts of Part-DINO. Other
programs on the machine are in the way of all alike; the best of a few rounds counts.

- Stages: CPU milliseconds a photo.
- Commands: CPU seconds of `partdino segment` with two photos, from start to end; and those of
  `partdino features` a photo, once it has started: of all photos less two.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bench_engine import print_table

_HERE = Path(__file__).resolve().parents[1]
_NOW, _FP32 = "now", "now, fp32"
_COMMAND = "from partdino.cli.main import main; main()"

Times = dict[str, float]  # CPU seconds by stage


def main() -> None:
    """Run the measurements that the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("photos", type=Path, help="folder of JPEG photos")
    parser.add_argument("--images", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--backbone", default="efficientnet-lite2")
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--against", type=Path, nargs="+", default=[], help="other checkouts")
    parser.add_argument("--options", help=argparse.SUPPRESS)  # one run: see `describe`
    given = parser.parse_args()
    photos = sorted(given.photos.rglob("*.jpg"))
    photos = photos[:: max(1, len(photos) // given.images)][: given.images]
    if not photos:
        raise SystemExit(f"{given.photos} holds no .jpg photos")
    if given.options is not None:
        print(json.dumps(describe(photos, json.loads(given.options))))
        return
    own = {"backbone": given.backbone, "device": "cpu", "workers": 0}
    if given.weights is not None:
        own["weights"] = str(given.weights)
    kinds = {_NOW: (_HERE, own), _FP32: (_HERE, {**own, "precision": "fp32"})}
    kinds |= {code.name: (code.resolve(), own) for code in given.against}
    stages: dict[str, list[Times]] = {_NOW: [], _FP32: []}
    commands: dict[str, list[Times]] = {name: [] for name in kinds}
    arguments = [str(given.photos), "--images", str(given.images)]
    for _ in range(given.rounds):
        for name, (code, options) in kinds.items():
            if name in stages:
                stages[name].append(described(arguments, options))
            few, many = (run("features", code, some, options) for some in (photos[:2], photos))
            commands[name].append(
                {
                    "segment, two photos": run("segment", code, photos[:2], options),
                    "features, a photo": (many - few) / (len(photos) - 2),
                }
            )
    for name, rounds in stages.items():
        stages[name] = [in_milliseconds(times, len(photos)) for times in rounds]
    print_times("Stages, CPU ms a photo", stages)
    print_times("Commands, CPU s", commands)


def described(arguments: Sequence[str], options: Mapping[str, object]) -> Times:
    """Return what `describe` measures, in a process of its own."""
    command = [sys.executable, __file__, *arguments, "--options", json.dumps(options)]
    done = subprocess.run(command, env=environment(_HERE), stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def run(verb: str, code: Path, photos: Sequence[Path], options: Mapping[str, object]) -> float:
    """Return the CPU seconds of a command of a checkout with some photos, from start to end."""
    flags = [text for name, value in options.items() for text in (f"--{name}", str(value))]
    with TemporaryDirectory(prefix="partdino-bench-") as folder:
        out = ["--out", f"{folder}/out", "--quiet"]
        command = [sys.executable, "-c", _COMMAND, verb, *map(str, photos), *out, *flags]
        process = subprocess.Popen(command, env=environment(code), cwd=folder)
        _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"partdino {verb} of {code} has failed")
    return usage.ru_utime + usage.ru_stime


def environment(code: Path) -> dict[str, str]:
    """Return the environment of a process with the code of a checkout, and one thread."""
    return {**os.environ, "PYTHONPATH": str(code), "OMP_NUM_THREADS": "1"}


def describe(photos: Sequence[Path], given: Mapping[str, object]) -> Times:
    """Describe photos in this process and return the CPU seconds of each stage.

    The first photo, by which networks are loaded, is described twice; the second time counts.
    """
    from partdino.describe.placement import describe_images
    from partdino.describe.settling import settle
    from partdino.describe.source import Source
    from partdino.engine.memory import ask_for_huge_pages
    from partdino.options import validate

    ask_for_huge_pages()  # as the command line does
    backbone, options, _ = settle(validate(given))
    sources = [Source(path.name, path) for path in (photos[0], *photos)]
    seconds: Counter[str] = Counter()
    for place, outcome in enumerate(describe_images(sources, backbone, options)):
        if outcome.failure is not None:
            raise SystemExit(f"{outcome.name}: {outcome.failure}")
        if place:
            seconds.update(outcome.cpu_seconds)
    return dict(seconds)


def in_milliseconds(seconds: Times, number: int) -> Times:
    """Return the times of a photo, and their sum."""
    times = {stage: 1000 * value / number for stage, value in seconds.items()}
    return {**times, "all": sum(times.values())}


def print_times(title: str, kinds: Mapping[str, Sequence[Times]]) -> None:
    """Print the best of the rounds of each kind, and the first kind's over each other one's."""
    names = list(kinds)
    rows = [
        row(what, [min(times[what] for times in rounds) for rounds in kinds.values()])
        for what in kinds[_NOW][0]
    ]
    print_table(title, ["", *names, *(f"{_NOW} / {name}" for name in names[1:])], rows)


def row(what: str, values: Sequence[float]) -> list[str]:
    """Return a row of the table: the values, and the first of them over each other one."""
    ratios = [f"{values[0] / value:.2f}" for value in values[1:]]
    return [what, *(f"{value:.3g}" for value in values), *ratios]


if __name__ == "__main__":
    main()
