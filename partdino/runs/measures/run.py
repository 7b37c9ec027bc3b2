"""From a finished output folder to the tables of its measurements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from partdino.engine.outcomes import Outcome, run_stage
from partdino.engine.pools import worker_pool
from partdino.files import refuse_inside, remove, write_csv
from partdino.output_marks import MEASUREMENTS, WORK_FOLDER
from partdino.runs.exports.finished import FinishedRun
from partdino.runs.folder import PER_IMAGE, RunVersion
from partdino.runs.lock import lock_folder
from partdino.runs.measures.excel import check_excel, write_excel
from partdino.runs.measures.figure import check_group, collect, write_figure
from partdino.runs.measures.odd import OddPhotos
from partdino.runs.measures.photo import PhotoMeasures, measure_photo
from partdino.runs.measures.scales import Scales
from partdino.runs.measures.tables import Tables
from partdino.runs.measures.user_table import join, read_user_table
from partdino.runs.reporting import Reporter, RunLog
from partdino.runs.result_log import RESULTS_FILE, Recorded, read_results, replaced_sentence
from partdino.runs.resume import check_replaceable
from partdino.runs.review import reviewed_parts
from partdino.runs.writers.spool import Spool

_MODULES = ("partdino.runs.measures.photo",)
_TABLES = ("measurements.csv", "photos.csv")
_WORKBOOK = "measurements.xlsx"
_PLOTS = ("measurements.png", "measurements.svg")


def measure(
    folder: Path,
    out: Path,
    reporter: Reporter,
    scale: str | None = None,
    metadata: Path | None = None,
    by: str | None = None,
    excel: bool = False,
    overwrite: bool = False,
    workers: int | Literal["auto"] = "auto",
) -> dict[str, Any]:
    """Measure the parts in all photos of a finished run, as its review has them.

    Photos that the review excludes are left out.

    Parameters
    ----------
    folder
        The output folder of the run.
    out
        Where the tables go; may be `folder`.
    reporter
        Where to say what happens.
    scale, metadata
        As of `Scales` and `read_user_table`, or None.
    by
        A column of the metadata that the figure tells apart, or None.
    excel
        Whether a workbook is written, too.
    overwrite
        Whether older measurements are replaced.
    workers
        Processes beside this one.

    Returns
    -------
    dict
        How many photos were measured, have failed and look odd, which of them could not be read or
        were replaced, and the files.

    Raises
    ------
    PartDinoError
        Nothing could be measured. Single photos that fail are named in `photos.csv`.
    """
    if excel:
        check_excel()
    version = RunVersion(folder)
    run = FinishedRun(folder)
    refuse_inside(out, "--out", *(folder / kind for kind in (*PER_IMAGE, WORK_FOLDER)))
    names = [recorded.name for recorded in _recorded(run)]
    scales = Scales(scale, names) if scale else None
    told = join(read_user_table(metadata), names) if metadata else None
    groups = check_group(by, told) if by else [""]
    for each in (scales, told):
        if each and each.unmatched:
            reporter.warn(each.unmatched)
    with lock_folder(out):
        for name in (*_TABLES, *_PLOTS, *[_WORKBOOK] * excel):
            check_replaceable(out / name, MEASUREMENTS[name], overwrite)
        parts = {
            p.part: p.name for p in reviewed_parts(run.review, run.num_parts) if not p.background
        }
        spool, odd, log = Spool(out), OddPhotos(parts), RunLog(reporter)
        replaced = _measure_all(run, len(names), spool, odd, log, workers)
        version.check()
        odd.finish()
        review = run.review if run.review.says_anything else None
        run.tell_of_review(reporter.say)
        tables = Tables(parts, scales, told, review, run.objects is not None)
        files = _write(out, tables, spool, odd, excel)
        plots = [out / name for name in _PLOTS]
        values = collect(_read(spool), len(names), tables, by)
        write_figure(plots, values, parts, groups, by)
    strange = sum(bool(odd.of(photo)) for photo in _read(spool))
    return {
        "counts": {"images": len(names), "failed": len(log.failures), "odd": strange},
        "without_photo": log.without_photo,
        "replaced": replaced,
        "files": [*files, *map(str, plots)],
    }


def _measure_all(
    run: FinishedRun,
    total: int,
    spool: Spool,
    odd: OddPhotos,
    log: RunLog,
    workers: int | Literal["auto"],
) -> list[str]:
    """Measure all photos into the spool; return the names of photos that were replaced."""
    replaced = list[str]()
    given = (Outcome(r.name, r, r.failure) for r in _recorded(run))
    division = replace(run.division, folder=run.folder.absolute())
    function = partial(
        measure_photo,
        division=division,
        values=run.values(run.parts()),
        objects=run.objects,
    )
    with (
        worker_pool(workers, modules=_MODULES) as pool,
        log.reporter.progress("measurements", total) as advance,
    ):
        for recorded, outcome in zip(
            _recorded(run), run_stage("measure", function, given, pool), strict=True
        ):
            if outcome.failure is None:
                photo = outcome.result
            else:
                photo = PhotoMeasures(outcome.name, failure=outcome.failure)
            if recorded.failure is None and log.note(outcome):
                log.note_odd(photo.name, True, photo.photo_found or photo.photo_replaced)
                replaced += [photo.name] * photo.photo_replaced
            odd.add(photo)
            spool.write(photo.dump() + "\n")
            advance(outcome.seconds)
    if log.without_photo:
        log.reporter.warn(
            f"{len(log.without_photo)} photos cannot be read any more, so they have no colours: "
            + ", ".join(log.without_photo[:3])
        )
    if replaced:
        log.reporter.warn(replaced_sentence(replaced, "they have no colours"))
    return replaced


def _write(out: Path, tables: Tables, spool: Spool, odd: OddPhotos, excel: bool) -> list[str]:
    measurements, photos = (out / name for name in _TABLES)
    workbook = out / _WORKBOOK
    if MEASUREMENTS[_WORKBOOK].may_go(workbook):
        remove(workbook)  # of the measurements that are replaced
    write_csv(measurements, tables.measurements_header(), tables.measurements(_read(spool)))
    write_csv(photos, tables.photos_header(), tables.photos(_read(spool), odd))
    if not excel:
        return [str(measurements), str(photos)]
    sheets = {
        "measurements": (tables.measurements_header(), tables.measurements(_read(spool))),
        "photos": (tables.photos_header(), tables.photos(_read(spool), odd)),
    }
    write_excel(workbook, sheets)
    return [str(measurements), str(photos), str(workbook)]


def _recorded(run: FinishedRun) -> Iterator[Recorded]:
    """Yield what is measured: also what has failed, not what the review excludes."""
    results = read_results(run.folder / RESULTS_FILE)
    return (recorded for recorded in results if not run.excludes(recorded))


def _read(spool: Spool) -> Iterator[PhotoMeasures]:
    return map(PhotoMeasures.load, spool.lines())
