"""What `partdino segment` and `partdino label` do alike: the run that ends in an output folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from partdino.engine.pool import Pool
from partdino.errors import OutputError
from partdino.files import file_sha256
from partdino.parts.model import PartModel
from partdino.parts.model_file import ModelFile
from partdino.runs.changes import Changes, are_as_recorded
from partdino.runs.folder import MODEL_FILE, OutputFolder
from partdino.runs.image_names import ImageNames
from partdino.runs.reporting import RunLog
from partdino.runs.result_log import RESULTS_FILE, Results, read_head, read_results
from partdino.runs.resume import outline_of, share_of
from partdino.runs.run_record import run_document, write_run_tables
from partdino.runs.shard import Shard
from partdino.runs.steps.label import Making, label, renew
from partdino.runs.store import FeatureStore, Header


class LabelRun:
    """A run over images into an output folder: begin, label, finish.

    Where the folder holds this very run, finished, what has changed since is labelled anew and the
    rest is kept: by ``--resume`` where the images are the same, by ``--update`` also where they are
    not.

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
    drop_removed
        Whether an update takes out the images that are not there any more.
    begun_as
        What an unfinished run is known by, if that is more than `same`.

    Attributes
    ----------
    done : dict or None
        The `run.json` of the finished run in the folder; None if this run begins anew.
    unchanged : bool
        Whether nothing is left to do, known after `begin`.
    more : dict
        What `run.json` is to hold besides.
    """

    def __init__(
        self,
        folder: OutputFolder,
        same: dict[str, Any],
        shard: Shard,
        given: ModelFile | None,
        log: RunLog,
        for_review: bool = True,
        drop_removed: bool = False,
        begun_as: dict[str, Any] | None = None,
    ) -> None:
        self._folder, self._same, self._shard = folder, same, shard
        self._given, self._log, self._drop_removed = given, log, drop_removed
        self._for_review = for_review
        self._begun_as = begun_as or same
        self._images: Sequence[Any] = ()
        self.more: dict[str, Any] = {}
        self.done = folder.finished(same)
        self.unchanged = False

    def begin(self, images: Sequence[Any]) -> Sequence[Any]:
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
            self._folder.begin(self._begun_as)
            return images
        changes = self._compare(images)
        self._images = changes.results
        self.unchanged = not changes.stale and not changes.moved
        if self._folder.updates:
            self.unchanged &= not changes.drops
            self.more["update"] = changes.counts
        self._say(changes)
        if self.unchanged:
            self._folder.drop_renewal()
        else:
            _check_model(self._folder.path)
            self._folder.begin_to_renew()
        return changes.stale

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
        making = Making(model, self._for_review, share_of(self._same), outline_of(self._same))
        if self.done is None:
            content = None if self._given is None else self._given.content
            label(store, self._shard, making, content, self._folder.place, pool, self._log)
        else:
            renew(self._folder, store, self._images, self._shard, making, pool, self._log)

    def finish(self, header: Header, model: PartModel) -> dict[str, Any]:
        """Write the tables and `run.json`, and return what that holds."""
        names = ImageNames(self._images)
        write_run_tables(self._folder.place, header.options, model, names, self._log)
        file = None if self._given is None else self._given.path
        run = run_document(header, model, self._same, file, self._shard, names, self._log)
        if self.done:  # what the update does not know: how the model came to be
            run.update({name: self.done[name] for name in ("model", "parts")})
        run.update(self.more)
        self._folder.finish(run)
        return run

    def _compare(self, images: Sequence[Any]) -> Changes:
        """Return what has changed since the run was finished.

        Raises
        ------
        OutputError
            The run was one of other images: of any other to be resumed, of none of these to be
            updated.
        """
        folder = self._folder.path
        if are_as_recorded(read_results(folder / RESULTS_FILE), images):
            return Changes.between([], [])
        recorded = Results(folder / RESULTS_FILE)
        changes = Changes.between(recorded, images, self._drop_removed)
        if self._folder.updates and recorded and len(changes.removed) == len(recorded):
            raise OutputError(
                f"{folder} holds a run of other photos ({recorded[0].name}, ...), none of which is "
                "in INPUT; update with the same INPUT"
            )
        if not self._folder.updates and (changes.counts["added"] or changes.removed):
            raise OutputError(
                f"{folder} holds a finished run of other images; pass --update to take up what is "
                "new, --overwrite to replace it, or another --out"
            )
        return changes

    def _say(self, changes: Changes) -> None:
        folder, reporter, counts = self._folder.path, self._log.reporter, changes.counts
        if changes.unknown:
            reporter.warn(
                f"{folder} does not say which versions of its photos were labelled (it is of "
                "Part-DINO 0.1): whether any has changed since cannot be told"
            )
        if changes.removed:
            names = ", ".join(result.name for result in changes.removed[:3])
            more = ", ..." if len(changes.removed) > 3 else ""
            fate = "they are taken out" if self._drop_removed else "their results stay"
            cure = "" if self._drop_removed else " (--drop-removed takes them out)"
            reporter.warn(
                f"{counts['removed']} photos are not there any more: {names}{more}; {fate}{cure}"
            )
        if self.unchanged:
            reporter.say(f"{folder} holds this run, finished: nothing is left to do.")
        else:
            new = f"{counts['added']} are new, " if self._folder.updates else ""
            reporter.say(
                f"{folder} holds this run, finished: {new}{counts['changed']} images have changed "
                f"and {counts['failed']} had failed; these are done anew, with the parts that were "
                "found."
            )


def _check_model(folder: Path) -> None:
    """Raise `OutputError` where the model in an output folder is not that of its results."""
    head = read_head(folder / RESULTS_FILE)
    if file_sha256(folder / MODEL_FILE) != head["model_sha256"]:
        raise OutputError(
            f"{folder / MODEL_FILE} is not the model that the images there were labelled with; put "
            "that back, or pass --overwrite to begin anew"
        )
