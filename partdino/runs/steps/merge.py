"""`partdino merge`: the shards of a run to what a single run would have made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

from partdino.describe.workers import stage_workers
from partdino.engine.pool import Pool
from partdino.errors import OutputError, StoreError
from partdino.files import link, whole_folder, write_json
from partdino.output_marks import RUN_FILE
from partdino.parts.model_file import load_model
from partdino.runs.folder import (
    CONFIG_FILE,
    MODEL_FILE,
    RunVersion,
    foreign_files,
    is_unfinished,
    link_image,
    read_run,
)
from partdino.runs.lock import lock_folder
from partdino.runs.reporting import Reporter, RunLog
from partdino.runs.result_log import RESULTS_FILE, merge_results, read_head, read_results
from partdino.runs.resume import INSTANCES, OUTLINE, contents, outline_of, share_of
from partdino.runs.run_record import run_counts
from partdino.runs.shard import WHOLE, Shard, check_complete
from partdino.runs.steps.recall import recall_results
from partdino.runs.store import merge_stores
from partdino.runs.store.header import STORE_FILES, is_store, refuse_foreign
from partdino.runs.writers import OutputWriters, write_failures


def merge(
    out: Path,
    shards: Sequence[Path],
    reporter: Reporter,
    overwrite: bool = False,
    workers: int | Literal["auto"] = "auto",
) -> tuple[int, int]:
    """Merge feature stores, or output folders of `partdino label`.

    Parameters
    ----------
    out
        Where the whole goes.
    shards
        All shards, in any order. They stay as they are; what is equal in both is stored once where
        the disk has links.
    reporter
        Where to say what happens.
    overwrite
        Whether a store or an output folder in the way is replaced.
    workers
        Processes beside this one.

    Returns
    -------
    images, failed
        How many there are, and how many of them failed.

    Raises
    ------
    PartDinoError
        The shards are not all those of one run, one is damaged, or `out` cannot be written. What
        was in `out` stays.
    """
    if out.resolve() in [shard.resolve() for shard in shards]:
        raise OutputError(f"{out} is one of the shards; choose another folder for the whole")
    versions = [RunVersion(shard) for shard in shards]
    with lock_folder(out):
        _check_out(out, overwrite)
        if is_store(shards[0]):
            store = merge_stores(out, shards)
            return len(store.images), len(store.images) - len(store.keys)
        folders = _in_order(shards)
        log = RunLog(reporter)
        with stage_workers(workers) as pool:
            images = _merge_outputs(out, folders, versions, pool, log)
    return images, len(log.failures)


def _check_out(out: Path, overwrite: bool) -> None:
    names = contents(out)
    if not is_store(out):  # the whole folder is replaced
        if foreign := next(foreign_files(out), None):
            raise OutputError(
                f"{out} holds files of something else ({foreign.relative_to(out)}); choose another "
                "name"
            )
    elif names - set(STORE_FILES):
        raise OutputError(f"{out} holds files of something else; choose another name")
    else:
        refuse_foreign(out)
    if names and not overwrite:
        raise OutputError(f"{out} holds results; pass --overwrite to replace them")


def _in_order(folders: Sequence[Path]) -> list[Path]:
    """Return the output folders in the order of their shards, if they belong together."""
    heads = []
    for folder in folders:
        run = read_run(folder)
        if is_unfinished(folder) or "shard" not in run:
            raise StoreError(
                f"{folder} is neither a feature store nor a finished output of partdino label"
            )
        for name in (MODEL_FILE, CONFIG_FILE):
            if not (folder / name).is_file():
                raise StoreError(
                    f"{folder / name} is missing; label this shard again with --overwrite"
                )
        if not _is_whole(run):
            raise StoreError(
                f"{folder / RUN_FILE} is damaged; label this shard again with --overwrite"
            )
        head = read_head(folder / RESULTS_FILE)
        same = run["fingerprint"]
        heads.append({**head, INSTANCES: share_of(same), OUTLINE: outline_of(same)})
        listed = sum(1 for _ in read_results(folder / RESULTS_FILE))
        if listed != (images := run["counts"]["images"]):
            raise StoreError(
                f"{folder / RESULTS_FILE} lists {listed} of {images} images; "
                "label this shard again with --overwrite"
            )
    for folder, head in zip(folders, heads, strict=True):
        for name, value in head.items():
            if name != "shard" and value != heads[0].get(name):
                raise StoreError(
                    f"{folders[0]} and {folder} are not shards of one run: they have another {name}"
                )
    shards = (Shard.parse(str(head.get("shard"))) for head in heads)
    numbered = list(zip(folders, shards, strict=True))
    check_complete((str(folder), shard) for folder, shard in numbered)
    return [folder for folder, _ in sorted(numbered, key=lambda pair: pair[1].number)]


def _is_whole(run: Mapping[str, Any]) -> bool:
    """Return whether a `run.json` holds all that the whole's is made of."""
    notes, numbers = run.get("notes"), run.get("seconds")
    times = [*numbers.values(), run.get("seconds_total")] if isinstance(numbers, dict) else [None]
    return (
        isinstance(notes, list)
        and all(isinstance(note, str) for note in notes)
        and all(isinstance(time, float | int) and 0 <= time < 1e12 for time in times)
        and all(isinstance(run.get(field), dict) for field in ("fingerprint", "counts"))
        and isinstance(run["counts"].get("images"), int)
    )


def _merge_outputs(
    out: Path,
    folders: Sequence[Path],
    versions: Sequence[RunVersion],
    pool: Pool | None,
    log: RunLog,
) -> int:
    with whole_folder(out) as new:
        merge_results(new / RESULTS_FILE, [folder / RESULTS_FILE for folder in folders])
        for folder in folders:
            for result in read_results(folder / RESULTS_FILE):
                link_image(result, folder, new)
        for name in (MODEL_FILE, CONFIG_FILE):
            link(folders[0] / name, new / name)
        naming = load_model(new / MODEL_FILE).naming
        run = read_run(folders[0])
        share = share_of(run["fingerprint"])
        writers = OutputWriters(new, run["notes"], naming, instances=share is not None)
        recall_results(partial(read_results, new / RESULTS_FILE), new, share, writers, pool, log)
        writers.close()
        write_failures(new, log.failures.items())
        images = sum(1 for _ in read_results(new / RESULTS_FILE))
        write_json(new / RUN_FILE, _run([read_run(folder) for folder in folders], images, log))
        for version in versions:
            version.check()
    log.warn_of_odd()
    return images


def _run(runs: Sequence[dict[str, Any]], images: int, log: RunLog) -> dict[str, Any]:
    """Return the `run.json` of the whole from those of the shards."""
    shard = str(WHOLE)
    seconds = sum((Counter(run["seconds"]) for run in runs), Counter())
    return {
        **runs[0],
        "fingerprint": {**runs[0]["fingerprint"], "shard": shard},
        "shard": shard,
        **run_counts(images, log),
        "seconds": dict(seconds),
        "seconds_total": sum(run["seconds_total"] for run in runs),
    }
