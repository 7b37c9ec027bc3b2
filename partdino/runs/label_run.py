"""What `partdino segment` and `partdino label` do alike: the run that ends in an output folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from partdino.describe.photos import Photo
from partdino.engine.pool import Pool
from partdino.errors import OutputError
from partdino.files import file_sha256
from partdino.parts.model import PartModel
from partdino.parts.model_file import ModelFile
from partdino.runs.folder import MODEL_FILE, OutputFolder
from partdino.runs.reporting import Reporter, RunLog
from partdino.runs.result_log import RESULTS_FILE, read_head, read_results
from partdino.runs.run_record import run_document, write_run_tables
from partdino.runs.shard import Shard
from partdino.runs.steps.label import label, renew
from partdino.runs.store import FeatureStore, Header, StoredImage


class LabelRun:
    """A run over images into an output folder: begin, label, finish.

    Where the folder holds this very run, finished, what has changed since is labelled anew and the
    rest is kept.

    Parameters
    ----------
    folder
        The output folder, locked.
    same
        All that decides the results except the images; see `partdino.runs.resume.fingerprint`.
    shard
        Which share of the images is labelled.
    given
        The model file that was given, if any.
    log
        Where failures are booked.
    for_review
        Whether to keep what a review mends and divides photos by.

    Attributes
    ----------
    done : dict or None
        The `run.json` of the finished run in the folder; None if this run begins anew.
    """

    def __init__(
        self,
        folder: OutputFolder,
        same: dict[str, Any],
        shard: Shard,
        given: ModelFile | None,
        log: RunLog,
        for_review: bool,
    ) -> None:
        self._folder, self._same, self._shard = folder, same, shard
        self._given, self._log = given, log
        self._for_review = for_review
        self._images: Sequence[Any] = ()
        self.done = folder.finished(same)

    def begin(self, images: Sequence[Any]) -> list[Any]:
        """Make room for the results; return those of the images that have to be labelled.

        Parameters
        ----------
        images
            All images of the share (`Photo` or `StoredImage`), in their order.

        Raises
        ------
        OutputError
            The run to resume was another one.
        """
        self._images = images
        if self.done is None:
            self._folder.begin(self._same)
            return list(images)
        stale = _stale_images(self._folder, images, self._log.reporter)
        if stale:
            _check_model(self._folder.path)
            self._folder.begin_to_renew(self._same)
        return stale

    def label(self, store: FeatureStore, model: PartModel, pool: Pool | None) -> None:
        """Label images, and raise `PartDinoError` where that cannot be done for any.

        Parameters
        ----------
        store
            The images of all shards; of a run that was `done`, those that `begin` has returned.
        model
            Fitted with the options and weights of the store.
        pool
            Worker processes, or None.
        """
        if self.done is None:
            content = None if self._given is None else self._given.content
            place, keep = self._folder.place, self._for_review
            label(store, self._shard, model, content, place, pool, self._log, keep)
        else:
            images, shard = self._images, self._shard
            renew(self._folder, store, images, shard, model, pool, self._log, self._for_review)

    def finish(self, header: Header, model: PartModel) -> dict[str, Any]:
        """Write the tables and `run.json`, and return what that holds."""
        names = [image.name for image in self._images]
        write_run_tables(self._folder.place, header.options, model, names, self._log)
        file = None if self._given is None else self._given.path
        run = run_document(header, model, self._same, file, self._shard, names, self._log)
        self._folder.finish(run)
        return run


def _check_model(folder: Path) -> None:
    """Raise `OutputError` where the model in an output folder is not that of its results."""
    head = read_head(folder / RESULTS_FILE)
    if file_sha256(folder / MODEL_FILE) != head["model_sha256"]:
        raise OutputError(
            f"{folder / MODEL_FILE} is not the model that the images there were labelled with; put "
            "that back, or pass --overwrite to begin anew"
        )


def _stale_images(
    folder: OutputFolder, images: Sequence[StoredImage | Photo], reporter: Reporter
) -> list[Any]:
    """Return the images of a finished run whose results are not those of today, and say so.

    Those are the ones whose photo or mask has changed, and those that have failed: what was wrong
    may have been cured.

    Raises
    ------
    OutputError
        The run was one of other images.
    """
    recorded = list(read_results(folder.path / RESULTS_FILE))
    if [result.name for result in recorded] != [image.name for image in images]:
        raise OutputError(
            f"{folder.path} holds a finished run of other images; pass --overwrite to replace it "
            "or another --out"
        )
    pairs = list(zip(recorded, images, strict=True))
    changed = [i for r, i in pairs if r.failure is None and r.key not in (None, i.key)]
    failed = [i for r, i in pairs if r.failure is not None and getattr(i, "failure", None) is None]
    if any(result.key is None for result, _ in pairs if result.failure is None):
        reporter.warn(
            f"{folder.path} does not say which versions of its photos were labelled (it is of "
            "Part-DINO 0.1): whether any has changed since cannot be told"
        )
    if not changed and not failed:
        reporter.say(f"{folder.path} holds this run, finished: nothing is left to do.")
    else:
        reporter.say(
            f"{folder.path} holds this run, finished: {len(changed)} images have changed and "
            f"{len(failed)} had failed; these are done anew, with the parts that were found."
        )
    return [image for _, image in pairs if image in changed or image in failed]
