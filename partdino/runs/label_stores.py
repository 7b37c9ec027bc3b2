"""`partdino label`: a feature store and a model to an output folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from partdino.describe.workers import stage_workers
from partdino.errors import ModelError
from partdino.options import RUNNING_OPTIONS
from partdino.parts.model import PartModel
from partdino.parts.model_file import ModelFile
from partdino.runs.folder import OutputFolder
from partdino.runs.label_run import LabelRun
from partdino.runs.lock import lock_folder
from partdino.runs.reporting import Reporter, RunLog, resumable
from partdino.runs.resume import Existing, fingerprint, outline_of, share_of
from partdino.runs.shard import WHOLE, Shard
from partdino.runs.store import FeatureStore, open_stores


@resumable()
def label_stores(
    stores: Sequence[Path],
    out: Path,
    model_file: Path,
    reporter: Reporter,
    shard: Shard = WHOLE,
    existing: Existing = Existing.REFUSE,
    workers: int | Literal["auto"] = "auto",
    engine: Literal["local", "ray"] = "local",
    for_review: bool = True,
    least_share: float | None = None,
    outline_size: int | None = None,
) -> dict[str, Any]:
    """Label the images of a store and write every output format.

    Parameters
    ----------
    stores
        The store, or those of all shards.
    out
        The output folder.
    model_file
        The fitted model.
    reporter
        Where to say what happens.
    shard
        Which share of the images is labelled.
    existing
        What to do if `out` holds results.
    workers, engine
        Processes beside this one, and where they run; see `stage_workers`.
    for_review, least_share, outline_size
        As of `partdino.runs.segment.segment`.

    Returns
    -------
    dict
        The content of `run.json`.

    Raises
    ------
    PartDinoError
        Nothing could be done at all. Single images that fail are booked in `failures.csv`.
    """
    log = RunLog(reporter)
    store = open_stores(stores)
    masks = store.header.options["masks"]
    given = ModelFile.read(model_file)
    model = given.model
    model.asked({"masks": masks} if masks else {}, str(model_file))
    _check_model(model_file, model, store)
    header = store.header
    with lock_folder(out):
        folder = OutputFolder(out, existing)
        share = share_of(folder.begun, least_share)
        size = outline_of(folder.begun, outline_size)
        same = fingerprint(header.identity, model.options, given.sha256, str(shard), share, size)
        run = LabelRun(folder, same, shard, given, log, for_review)
        images = run.begin(shard.share(store.images))
        if run.done and not images:
            return run.done
        with stage_workers(workers, engine, warn=reporter.warn) as pool:
            run.label(FeatureStore(header, images) if run.done else store, model, pool)
        return run.finish(header, model)


def _check_model(model_file: Path, model: PartModel, store: FeatureStore) -> None:
    header = store.header
    if model.weights_sha256 != header.weights["sha256"]:
        raise ModelError(f"{model_file} was fitted to features of other weights than the store's")
    for name, value in header.options.items():
        fitted = model.options.values()[name]
        if name not in RUNNING_OPTIONS and fitted != value:
            raise ModelError(
                f"{model_file} was fitted with {name} {fitted}, and the store was made with {value}"
            )
    if (numbers := model.options.numbers.describing) != header.numbers:
        raise ModelError(
            f"{model_file} was fitted with numbers {numbers}, and the store was made with "
            f"{header.numbers}"
        )
