"""`partdino segment`: a collection of photos to part masks, from the inputs to the output folder.

::

    inputs --> describe --> fit --> label --> output folder
                 |          (or --model)
              (store)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from partdino.describe.photos import find_photos
from partdino.describe.settling import settle
from partdino.describe.workers import stage_workers
from partdino.errors import ModelError
from partdino.options import DECIDED_OPTIONS, RUNNING_OPTIONS, Options, validate
from partdino.parts.model_file import ModelFile, load_model
from partdino.runs.folder import CURVE_NAME, MODEL_FILE, OutputFolder
from partdino.runs.label_run import LabelRun
from partdino.runs.lock import lock_folder
from partdino.runs.reporting import Reporter, RunLog, resumable
from partdino.runs.resume import Existing, fingerprint
from partdino.runs.shard import WHOLE
from partdino.runs.steps.describe import check_any, describe
from partdino.runs.steps.fit import fit_store
from partdino.runs.store import Header, StoreWriter
from partdino.runs.writers import write_parts_curve


@resumable()
def segment(
    inputs: Sequence[Path | str],
    out: Path,
    given: Mapping[str, Any],
    reporter: Reporter,
    model_file: Path | None = None,
    existing: Existing = Existing.REFUSE,
    for_review: bool = True,
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
    asked, model = _options(given, source), None if source is None else source.model
    with lock_folder(out):
        folder = OutputFolder(out, existing)
        photos, unread = find_photos(inputs, out, asked.masks)
        log.note_unread(unread)
        folder.refuse_as_inputs(photo.path for photo in photos)
        backbone, options, notes = settle(asked, reporter.say, reporter.warn)
        if model is not None:
            model.check_backbone(backbone)
        identity = Header.of(photos, options, backbone, notes, WHOLE).identity
        sha256 = None if source is None else source.sha256
        same = fingerprint(identity, asked, sha256, str(WHOLE))
        run = LabelRun(folder, same, WHOLE, source, log, for_review)
        photos = run.begin(photos)
        if run.done and not photos:
            return run.done
        header = Header.of(photos, options, backbone, notes, WHOLE)
        workers = stage_workers(options.workers, options.engine, options.device)
        with folder.sparing_older(), workers as pool:
            writer = StoreWriter(folder.store, Existing.RESUME)
            store = describe(photos, writer, header, backbone, options, pool, log)
            if run.done:
                model = load_model(out / MODEL_FILE)
            else:
                check_any(store, out if folder.place == out else None)
            if model is None:
                model = fit_store(store, asked.parts, options, log, pool)
                write_parts_curve(folder.place / CURVE_NAME, model.curve)
            run.label(store, model, pool)
        return run.finish(header, model)


def _options(given: Mapping[str, Any], source: ModelFile | None) -> Options:
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
