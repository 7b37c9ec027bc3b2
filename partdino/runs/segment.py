"""`partdino segment`: a collection of photos to part masks, from the inputs to the output folder.

::

    inputs --> describe --> fit --> label --> output folder
                 |          (or --model)
              (store)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partdino.describe.photos import Photo, find_photos
from partdino.describe.settling import settle
from partdino.describe.workers import stage_workers
from partdino.engine.pool import Pool
from partdino.engine.threads import import_meanwhile
from partdino.errors import ModelError
from partdino.options import DECIDED_OPTIONS, RUNNING_OPTIONS, Options, SettledOptions, validate
from partdino.parts.model import PartModel
from partdino.parts.model_file import ModelFile, load_model
from partdino.runs.folder import CURVE_NAME, MODEL_FILE, OutputFolder
from partdino.runs.image_names import ImageNames
from partdino.runs.kept_lists import kept_lists
from partdino.runs.label_run import LabelRun
from partdino.runs.lock import lock_folder
from partdino.runs.reporting import Reporter, RunLog, resumable
from partdino.runs.resume import Existing, fingerprint, outline_of, share_of
from partdino.runs.shard import WHOLE
from partdino.runs.steps.describe import check_any, describe, warn_of_hints
from partdino.runs.steps.fit import fit_store
from partdino.runs.store import FeatureStore, Header, StoreWriter
from partdino.runs.writers import write_parts_curve

if TYPE_CHECKING:
    from partdino.describe.features import Backbone


@resumable()
def segment(
    inputs: Sequence[Path | str],
    out: Path,
    given: Mapping[str, Any],
    reporter: Reporter,
    model_file: Path | None = None,
    existing: Existing = Existing.REFUSE,
    for_review: bool = True,
    least_share: float | None = None,
    outline_size: int | None = None,
) -> dict[str, Any]:
    """Segment the parts in all images and write every output format.

    Parameters
    ----------
    inputs
        Folders, image files, lists of paths and URLs; see `partdino.images.find_images`.
    out
        The output folder.
    given
        Option values by name; see `partdino.options.Options`.
    reporter
        Where to say what happens.
    model_file
        Label with this fitted model instead of fitting one.
    existing
        What to do if `out` holds results.
    for_review
        Whether to keep what a review mends and divides photos by, some 14 kB a photo.
    least_share
        Which pieces of the foreground are objects of their own, see `partdino.parts.instances`.
        None: a new run does not tell them apart, one that goes on does as it did.
    outline_size
        Of the photos that outlines are refined on, the longer side; 0: they are not refined. None:
        `OUTLINE_SIZE`, and a run that goes on does as it did.

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
    source = None if model_file is None else ModelFile.read(model_file)
    asked = options_of(given, source)
    with lock_folder(out), kept_lists(out, existing) as lists:
        folder = OutputFolder(out, existing)
        photos = find(inputs, folder, asked, log, lists)
        setting = settled(asked, source, log)
        sha256 = None if source is None else source.sha256
        share = share_of(folder.begun, least_share)
        size = outline_of(folder.begun, outline_size)
        same = fingerprint(setting.identity(photos), asked, sha256, str(WHOLE), share, size)
        run = LabelRun(folder, same, WHOLE, source, log, for_review)

        def model(store: FeatureStore, pool: Pool | None) -> PartModel:
            if run.done:
                return load_model(out / MODEL_FILE)
            check_any(store, out if folder.place == out else None)
            if source is not None:
                return source.model
            fitted = fit_store(store, asked.parts, setting.options, log, pool)
            write_parts_curve(folder.place / CURVE_NAME, fitted.curve)
            return fitted

        if source is None:
            import_meanwhile("sklearn.linear_model")  # of the fit
        return complete(run, folder, photos, setting, model, log)


@dataclass(frozen=True)
class Setting:
    """What a run describes its photos with, and what was chosen for "auto"; see `settle`."""

    backbone: Backbone
    options: SettledOptions
    notes: list[str]

    def header(self, photos: Sequence[Photo]) -> Header:
        """Return the header of the store of some photos."""
        names = ImageNames(photos)
        return Header.of(names, self.options, self.backbone, self.notes, WHOLE)

    def identity(self, photos: Sequence[Photo]) -> dict[str, Any]:
        """Return all that decides the descriptions except the photos."""
        return self.header(photos).identity


def find(
    inputs: Sequence[Path | str], folder: OutputFolder, asked: Options, log: RunLog, lists: Path
) -> Sequence[Photo]:
    """Return the photos of a run, none of them a result of its folder; raises `PartDinoError`.

    Lists of what is behind URLs are kept in a folder, or were.
    """
    photos, unread = find_photos(inputs, folder.path, asked.masks, asked.hints, lists)
    log.note_unread(unread)
    warn_of_hints(asked.hints, photos, log)
    folder.refuse_as_inputs(photo.path for photo in photos)
    return photos


def settled(asked: Options, source: ModelFile | None, log: RunLog) -> Setting:
    """Settle what a run describes with, as the model needs it if there is one."""
    setting = Setting(*settle(asked, log.reporter.say, log.reporter.warn))
    if source is not None:
        source.model.check_backbone(setting.backbone)
    return setting


def complete(
    run: LabelRun,
    folder: OutputFolder,
    photos: Sequence[Photo],
    setting: Setting,
    model_of: Callable[[FeatureStore, Pool | None], PartModel],
    log: RunLog,
) -> dict[str, Any]:
    """Describe and label what a run lacks, and return its `run.json`.

    Parameters
    ----------
    run, folder
        The run and where it goes.
    photos
        All of them.
    setting
        What they are described with.
    model_of
        Returns the model, given the store of what was described.
    log
        Where failures are booked.
    """
    photos, options = run.begin(photos), setting.options
    if run.done and run.unchanged:
        return run.done
    header = setting.header(photos)
    where = (options.workers, options.engine, options.device)
    workers = stage_workers(*where, log.reporter.warn)
    with folder.sparing_older(), workers as pool:
        store = FeatureStore(header, [])
        if photos:
            writer = StoreWriter(folder.store, Existing.RESUME, of_others=run.done is not None)
            store = describe(photos, writer, header, setting.backbone, options, pool, log)
        model = model_of(store, pool)
        run.label(store, model, pool)
    return run.finish(header, model)


def options_of(given: Mapping[str, Any], source: ModelFile | None) -> Options:
    """Return the options of a run, those of its model if there is one; raises `PartDinoError`."""
    if source is None:
        return validate(given)
    running = {name: value for name, value in given.items() if name in RUNNING_OPTIONS}
    fitted = source.model.asked(running, str(source.path))
    for name, value in vars(validate({**vars(fitted), **given})).items():
        settled = value == "auto" and name in DECIDED_OPTIONS
        if name in given and value != getattr(fitted, name) and not settled:
            raise ModelError(
                f"{source.path} was fitted with {name} {getattr(fitted, name)}, "
                f"not {value}; leave it out or fit anew"
            )
    return fitted
