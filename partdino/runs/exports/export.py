"""`partdino export`: a finished run to a folder in the format of another tool."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from partdino.errors import ConfigError, InputError, OutputError, OutputNameError
from partdino.files import recover_folder, refuse_url, whole_folder
from partdino.runs.exports.exporter import Exporter, Target
from partdino.runs.exports.finished import ExportImage, FinishedRun, Part
from partdino.runs.exports.formats import find_format
from partdino.runs.exports.image_ids import ImageIds
from partdino.runs.exports.names import find_clash, short_stem
from partdino.runs.exports.photos import copy_suffix, copy_upright
from partdino.runs.folder import RunVersion
from partdino.runs.reporting import Reporter
from partdino.runs.result_log import replaced_sentence


def export(
    folder: Path,
    format: str,
    out: Path,
    reporter: Reporter,
    only: Sequence[int] = (),
    drop: Sequence[int] = (),
    with_photos: bool = False,
    coco_ids: Path | None = None,
) -> dict[str, Any]:
    """Write the label maps of a finished run in another format; the run is only read.

    Where the run was reviewed, parts have its names and colours, and are merged or background as it
    says; photos that it excludes are left out. Images go through one at a time: memory does not
    grow with their number.

    Parameters
    ----------
    folder
        The output folder of `partdino segment`.
    format
        One of `partdino.runs.exports.formats.NAMES`.
    out
        A folder that is empty or missing; it is there in the end, whole, or as it was.
    reporter
        Where to say what happens.
    only, drop
        Numbers of the parts to export, or not to; what is not exported is background.
    with_photos
        Put copies of the photos beside, turned as their EXIF orientation says.
    coco_ids
        A COCO file whose images keep their numbers.

    Returns
    -------
    dict
        ``format``, ``out``, ``parts`` (numbers), ``images`` (how many) and ``failed`` (reasons by
        name).

    Raises
    ------
    PartDinoError
        Nothing could be exported. Single images that fail are warned of.
    """
    kind = find_format(format)
    version, run = RunVersion(folder), FinishedRun(folder)
    parts = choose_parts(run.parts(), only, drop)
    if coco_ids is not None and not kind.takes_ids:
        raise ConfigError(f"--coco-ids is of no use with {format}, whose images have no numbers")
    ids = ImageIds() if coco_ids is None else ImageIds.read(coco_ids)
    photos = with_photos or kind.needs_photos
    check_out(out, folder)
    has_short = _has_short_stems(run, format, kind, photos)
    run.tell_of_review(reporter.say)
    if replaced := [recorded.name for recorded in run if recorded.is_replaced()]:
        reporter.warn(replaced_sentence(replaced, "their label maps are of older ones"))
    failed: dict[str, str] = {}
    with whole_folder(out) as place:
        exporter = kind(Target(place, parts, photos, ids, reporter.warn))
        with reporter.progress("exported", run.num_images) as advance:
            for image in _images(run, parts, photos, has_short):
                try:
                    _add(exporter, image)
                except (InputError, OutputNameError) as error:
                    failed[image.recorded.name] = str(error)
                    reporter.warn(str(error))
                advance()
        version.check()
        if len(failed) == run.num_images:
            raise InputError(f"no image of {folder} could be exported; see the warnings")
        exporter.close()
    if coco_ids is not None and ids.new:
        reporter.warn(f"{ids.new} images are not in {coco_ids}; their numbers follow its greatest")
    return {
        "format": format,
        "out": str(out),
        "parts": [part.number for part in parts],
        "images": run.num_images - len(failed),
        "failed": failed,
    }


def choose_parts(parts: Sequence[Part], only: Sequence[int], drop: Sequence[int]) -> list[Part]:
    """Return the parts to export; raises `ConfigError` where a number is of none, or none stays."""
    if only and drop:
        raise ConfigError("--only names what is exported and --drop what is not: pass one of them")
    numbers = [part.number for part in parts]
    for number in (*only, *drop):
        if number not in numbers:
            known = ", ".join(map(str, numbers))
            raise ConfigError(f"there is no part {number} to export; the parts are {known}")
    chosen = [p for p in parts if p.number not in drop and (p.number in only or not only)]
    if not chosen:
        raise ConfigError("--drop leaves no part to export; name fewer")
    return chosen


def check_out(out: Path, folder: Path) -> None:
    """Raise `OutputError` where the folder to write holds anything, or is in the run's own."""
    refuse_url(out)
    recover_folder(out)
    if out.resolve().is_relative_to(folder.resolve()):
        raise OutputError(f"{out} is inside the run, which is never changed; choose another --out")
    try:
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise OutputError(f"{out} is not empty; choose another --out")
    except OSError as error:
        raise OutputError(f"{out}: {error.strerror}; choose another --out") from error


def _has_short_stems(run: FinishedRun, format: str, kind: type[Exporter], photos: bool) -> bool:
    """Tell whether files are called as photos without suffix; else as those of the run itself.

    Raises `InputError` where two photos have one stem and the format's tools cannot tell them.
    """
    matters = kind.knows_by_stem or kind.file("a") is not None

    def called(name: str) -> str:
        return short_stem(name) + ("" if matters else copy_suffix(name))

    clash = find_clash(lambda: (recorded.name for recorded in run), called)
    if clash and kind.knows_by_stem and not photos:
        raise InputError(
            f"{clash[0]} and {clash[1]} are one photo to the tools of {format}, which pass over "
            "the suffix; pass --with-photos: the copies have names that differ"
        )
    return not clash


def _images(
    run: FinishedRun, parts: Sequence[Part], photos: bool, has_short: bool
) -> Iterator[ExportImage]:
    values = run.values(parts)
    for recorded in run:
        stem = short_stem(recorded.name) if has_short else recorded.stem
        name = stem + copy_suffix(recorded.name) if photos else recorded.name
        of_run = (run.division, values, run.objects)
        yield ExportImage(name, stem, recorded.photo, recorded, *of_run)


def _add(exporter: Exporter, image: ExportImage) -> None:
    if exporter.target.photos:
        copy_upright(image, exporter.out / exporter.photo_folder / image.name)
    exporter.add(image)
