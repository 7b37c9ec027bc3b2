"""Measure what a great number of photos costs beside their pixels; prints a table.

    python scripts/bench_names.py --folder SCRATCH --photos 500000

Empty files stand for photos, 1,000 in a folder. Each step of a run takes them in a process of its
own, with stubs where pixels would be: no file is decoded, every photo has the same tiny
description, which waits in memory for its block, and no label map is written. What is left is
finding, naming, sorting, comparing and listing.

- Seconds: of the step, its imports and the loading of the network left out; and of them, the
  processor's, which other programs on the same cores prolong little.
- Peak: the most memory of the process (VmHWM) above what it held before the step began, MB.

SCRATCH needs some 8 GB and 6 million files for 5 million photos, and is left as it is: photos that
are there are taken. Works on Linux only, whose /proc it reads.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

IN_FOLDER = 1000
SIZE = (4, 6)


class Halt(Exception):
    """Ends a step in the midst, as a kill does."""


def main() -> None:
    """Run all steps for each number of photos."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, required=True, help="scratch folder")
    parser.add_argument("--photos", type=int, nargs="+", default=[500_000])
    parser.add_argument("--steps", nargs="+", choices=STEPS, default=list(STEPS))
    parser.add_argument(
        "--render-store", action="store_true", help="what `features` and `merge` make, all at once"
    )
    parser.add_argument("--step", help=argparse.SUPPRESS)  # in a process of its own
    given = parser.parse_args()
    if given.step:
        print(json.dumps(measured(STEPS[given.step], given.folder)))
        return
    print("| step | photos | s | CPU s | peak, MB |\n|---|---:|---:|---:|---:|")
    for count in given.photos:
        folder = given.folder / str(count)
        if given.render_store:
            render_store(folder / "store-whole", count, given.folder)
        else:
            make_photos(folder / "photos", count)
        for name in given.steps:
            command = [sys.executable, __file__, "--folder", str(folder), "--step", name]
            run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            found = json.loads(run.stdout.splitlines()[-1])
            numbers = (f"{found[what]:.0f}" for what in ("seconds", "busy", "peak"))
            print(f"| {name} | {count} | {' | '.join(numbers)} |", flush=True)


def measured(step: Callable[[Path], Callable[[], Any]], folder: Path) -> dict[str, float]:
    """Return the seconds of a step and its peak of memory above what it began with."""
    run = step(folder)
    Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten
    before, start, busy = memory("VmRSS"), time.perf_counter(), time.process_time()
    with suppress(Halt):
        run()
    return {
        "seconds": time.perf_counter() - start,
        "busy": time.process_time() - busy,
        "peak": memory("VmHWM") - before,
    }


def memory(kind: str) -> float:
    """Return a line of this process's memory status, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith(kind))


def make_photos(folder: Path, count: int) -> None:
    """Make empty files of the names of photos, if they are not there."""
    for start in range(0, count, IN_FOLDER):
        place = folder / f"{start // IN_FOLDER:05}"
        if not place.is_dir():
            place.mkdir(parents=True)
            for number in range(start, min(start + IN_FOLDER, count)):
                os.close(os.open(place / f"photo_{number:08}.jpg", os.O_CREAT))


def render_store(out: Path, count: int, scratch: Path) -> None:
    """Write a store of so many photos, each in its block but without arrays, if it is not there."""
    from dataclasses import replace

    from partdino.describe.photos import Photo
    from partdino.runs.store import Header
    from partdino.runs.store.blocks import block_path, write_block

    if (out / "store.json").is_file():
        return
    make_model(scratch / "few")
    head = replace(Header.read(scratch / "few" / "store"), images=count, block_size=32)
    for block in head.blocks:
        names = [
            f"{number // IN_FOLDER:05}/photo_{number:08}.jpg"
            for number in range(block * 32, min(block * 32 + 32, count))
        ]
        photos = [Photo(name, out.parent / "photos" / name, f"{name} 0 1") for name in names]
        write_block(block_path(out, block), photos, {photo.key: {} for photo in photos}, {})
    head.write(out)


class Journal:
    """A journal of descriptions in memory, in place of one that is a file a photo."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._arrays: dict[str, Mapping[str, np.ndarray]] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._arrays

    def write(self, key: str, description: Any) -> None:
        """Keep a description."""
        from partdino.runs.store.columns import to_arrays

        self._arrays[key] = to_arrays(description)

    def read_arrays(self, key: str) -> Mapping[str, np.ndarray]:
        """Return what is kept."""
        return self._arrays[key]

    def remove(self, key: str) -> None:
        """Forget it."""
        del self._arrays[key]


def described(sources: Any, *_: Any) -> Iterator[Any]:
    """Give every photo the same description."""
    from partdino.describe.description import ImageDescription
    from partdino.engine.outcomes import Outcome

    none = np.zeros(0)
    description = ImageDescription(
        size=SIZE,
        cells=np.zeros(SIZE, np.int32),
        regions=np.zeros(1, np.int32),
        areas=np.ones(1, np.int64),
        features=np.ones((1, 4), np.float16),
        contrast=np.zeros(1, np.float32),
        edges=none.reshape(0, 2).astype(np.int32),
        border_length=none.astype(np.int32),
        strength=none.astype(np.float16),
    )
    return (Outcome(source.name, description) for source in sources)


def labelled(stop_at: int | None) -> Callable[..., Iterator[tuple[Any, Any]]]:
    """Give every photo the same parts; None, or the number of photos that a run is killed after."""
    from partdino.engine.outcomes import Outcome
    from partdino.parts.result import PartSegmentation

    label_map, sure = np.ones(SIZE, np.uint8), np.full(6, 0.75, np.float32)

    def label(images: Sequence[Any], *_: Any) -> Iterator[tuple[Any, Any]]:
        for place, image in enumerate(images):
            if place == stop_at:
                raise Halt
            result = PartSegmentation(image.name, label_map, 6, sure, sure, True, 0.9, 1)
            yield image, Outcome(image.name, (result, None))

    return label


def recalled(read: Callable[[], Any], *_: Any) -> None:
    """Read the list of results, and no label map."""
    for _ in read():
        pass


def list_photos(folder: Path) -> Callable[[], None]:
    """Find all photos, and their versions, as every command does."""
    from partdino.describe.photos import find_photos

    def run() -> None:
        photos, _ = find_photos([folder / "photos"], folder / "out")
        for photo in photos:
            assert photo.key

    return run


def describe(shard: str, resume: bool = False) -> Callable[[Path], Callable[[], None]]:
    """Describe a shard of two, or go on with it."""

    def prepared(folder: Path) -> Callable[[], None]:
        from partdino.runs.resume import Existing
        from partdino.runs.shard import Shard
        from partdino.runs.steps import describe as step
        from partdino.runs.store import writing

        out = folder / f"store-{shard.replace('/', '-')}"
        existing = Existing.RESUME if resume else Existing.REFUSE
        if not resume:
            shutil.rmtree(out, ignore_errors=True)
        settled = step.settle(step.validate(OPTIONS), lambda _: None, lambda _: None)

        def run() -> None:
            with (
                patch.object(step, "settle", lambda *_: settled),
                patch.object(step, "describe_images", described),
                patch.object(writing, "DescriptionStore", Journal),
            ):
                step.make_store(
                    [folder / "photos"], out, OPTIONS, Quiet(), Shard.parse(shard), existing
                )

        return run

    return prepared


def merge(kind: str, overwrite: bool = False) -> Callable[[Path], Callable[[], None]]:
    """Merge the two shards of stores or of label outputs."""

    def prepared(folder: Path) -> Callable[[], None]:
        from partdino.runs.steps import merge as step

        out = folder / f"{kind}-whole"
        if not overwrite:
            shutil.rmtree(out, ignore_errors=True)
        shards = [folder / f"{kind}-{n}-2" for n in (1, 2)]

        def run() -> None:
            with patch.object(step, "recall_results", recalled), written():
                step.merge(out, shards, Quiet(), overwrite, workers=0)

        return run

    return prepared


def label(
    shard: str, resume: bool = False, half: bool = False, changed: bool = False
) -> Callable[[Path], Callable[[], None]]:
    """Label a shard of two, killed at the half of its photos or not, or go on with it.

    Where some have changed, that is 1 photo of 1,000 of those that were labelled.
    """

    def prepared(folder: Path) -> Callable[[], None]:
        from partdino.runs import label_stores as command
        from partdino.runs.resume import Existing
        from partdino.runs.shard import Shard
        from partdino.runs.steps import label as step
        from partdino.runs.store import Header

        out, model = folder / f"labels-{shard.replace('/', '-')}", make_model(folder.parent / "few")
        if not resume:
            shutil.rmtree(out, ignore_errors=True)
        if changed:
            change_some(out / "results.jsonl")
        existing = Existing.RESUME if resume else Existing.REFUSE
        count = Header.read(folder / "store-whole").images

        def run() -> None:
            with (
                patch.object(step, "_labelled", labelled(count // 4 if half else None)),
                patch.object(step, "recall_results", recalled),
                patch.object(step, "recall_kept", lambda recorded, *_: recalled(lambda: recorded)),
                written(),
            ):
                command.label_stores(
                    [folder / "store-whole"],
                    out,
                    model,
                    Quiet(),
                    Shard.parse(shard),
                    existing,
                    workers=0,
                )

        return run

    return prepared


def change_some(results: Path) -> None:
    """Make a list of results say that every 1,000th photo was another version."""
    lines = results.with_suffix(".new")
    with results.open() as old, lines.open("w") as new:
        for number, line in enumerate(old):
            new.write(line.replace(' 1", ', ' 2", ') if number % 1000 == 1 else line)
    lines.replace(results)


def written() -> Any:
    """Keep every format from being written."""
    from partdino.runs.writers import OutputWriters

    nothing = {name: lambda *_: None for name in ("add", "keep", "recall", "close")}
    return patch.multiple(OutputWriters, **nothing)


def make_model(folder: Path) -> Path:
    """Return a model of some rendered photos, described as those of the store."""
    from partdino.evaluation.synth.photos import write_photos
    from partdino.runs.steps.describe import make_store
    from partdino.runs.steps.fit import make_model as fit

    model = folder / "parts.safetensors"
    if not model.is_file():
        write_photos(folder / "photos", 4, 0, 96, lambda: None)
        make_store([folder / "photos"], folder / "store", OPTIONS, Quiet())
        fit([folder / "store"], model, {"parts": 6}, Quiet())
    return model


class Quiet:
    """A reporter that says nothing."""

    def say(self, message: str) -> None:
        """Drop a message."""

    warn = say

    def progress(self, title: str, total: int) -> Any:
        """Show nothing."""
        return nullcontext(lambda *_: None)


OPTIONS = {"workers": 0, "boundaries": "gradient", "device": "cpu", "precision": "fp32"}
STEPS: dict[str, Callable[[Path], Callable[[], None]]] = {
    "find": list_photos,
    "features --shard 1/2": describe("1/2"),
    "features --shard 2/2": describe("2/2"),
    "features --shard 1/2 --resume": describe("1/2", resume=True),
    "merge stores": merge("store"),
    "label --shard 1/2, killed": label("1/2", half=True),
    "label --shard 1/2 --resume": label("1/2", resume=True),
    "label --shard 2/2": label("2/2"),
    "label --shard 2/2 --resume, finished": label("2/2", resume=True),
    "merge outputs": merge("labels"),
    "merge outputs --overwrite": merge("labels", overwrite=True),
    "label --shard 2/2 --resume, some changed": label("2/2", resume=True, changed=True),
}


if __name__ == "__main__":
    main()
