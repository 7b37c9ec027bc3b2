"""The layouts by name, and the folder they are written to."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from partdino.errors import OutputError
from partdino.evaluation.synth import celeba, coco, cub, photos
from partdino.files import recover_folder, write_json
from partdino.version import __version__

_RECORD = "synth.json"


@dataclass(frozen=True)
class Layout:
    """How to write a data set.

    Parameters
    ----------
    write
        Called with folder, number of images, seed, longer side in pixels, and a function to call
        after every image.
    entries
        What it makes directly in the folder.
    contents
        The same in words.
    next_command
        What to try next, with ``{root}`` for the folder.
    """

    write: Callable[[Path, int, int, int, Callable[[], None]], None]
    entries: tuple[str, ...]
    contents: str
    next_command: str


LAYOUTS = {
    "photos": Layout(
        photos.write_photos,
        photos.ENTRIES,
        "animal photos in images/, true label maps in labels/",
        "partdino segment {root}/images --parts 5 --out {root}-parts",
    ),
    "cub": Layout(
        cub.write_cub,
        cub.ENTRIES,
        "birds with 15 keypoints, as CUB-200-2011",
        "partdino eval cub {root} --parts 4",
    ),
    "celeba": Layout(
        celeba.write_celeba,
        celeba.ENTRIES,
        "faces with 5 landmarks, aligned and in the wild, as CelebA",
        "partdino eval celeba {root} --parts 4",
    ),
    "coco": Layout(
        coco.write_coco,
        coco.ENTRIES,
        "animals with part masks, COCO format, as PartImageNet",
        "partdino eval coco-parts {root} --parts 8",
    ),
}


def prepare_folder(out: Path, *, overwrite: bool) -> None:
    """Make sure that a data set can be written to ``out``.

    Parameters
    ----------
    out
        Folder that is absent, empty, or holds what an earlier `write_layout` wrote.
    overwrite
        Remove that earlier data set, and nothing else; a file of somebody else in it is refused.

    Raises
    ------
    OutputError
        ``out`` is a file, or a folder with other content, or may not be overwritten.
    """
    recover_folder(out)
    if out.exists() and not out.is_dir():
        raise OutputError(f"{out} is a file; choose a folder")
    if not out.exists() or not any(out.iterdir()):
        return
    if not overwrite:
        raise OutputError(f"{out} is not empty; choose another folder or pass --overwrite")
    entries, files = _written_before(out)
    foreign = (name for name in _files(out, entries) if name not in files)
    if files and (mine := next(foreign, None)):
        raise OutputError(
            f"{out / mine} is none of the files that partdino synth wrote; move it, or choose "
            "another folder"
        )
    for name in (*entries, _RECORD):
        path = out / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def write_layout(
    name: str,
    out: Path,
    *,
    images: int,
    seed: int,
    size: int,
    done: Callable[[], None] | None = None,
) -> None:
    """Write a synthetic data set.

    Parameters
    ----------
    name
        A key of `LAYOUTS`.
    out
        Folder to write to; see `prepare_folder`.
    images
        Number of images.
    seed
        The same seed gives the same images.
    size
        Longer side of the images in pixels.
    done
        Called after every image.

    Raises
    ------
    OutputError
        A file cannot be written.
    """
    # The record comes first, so that an interrupted run can be overwritten.
    settings = {"layout": name, "images": images, "seed": seed, "size": size}
    write_json(out / _RECORD, {"partdino": __version__, **settings})
    LAYOUTS[name].write(out, images, seed, size, done or (lambda: None))
    files = sorted(_files(out, LAYOUTS[name].entries))
    write_json(out / _RECORD, {"partdino": __version__, **settings, "files": files})


def _files(out: Path, entries: Sequence[str]) -> Iterator[str]:
    """Yield what there is in entries of a folder that is no folder, by its path in it."""
    for entry in entries:
        path = out / entry
        for each in path.rglob("*") if path.is_dir() and not path.is_symlink() else [path]:
            if os.path.lexists(each) and (each.is_symlink() or not each.is_dir()):
                yield each.relative_to(out).as_posix()


def _written_before(out: Path) -> tuple[Sequence[str], Collection[str]]:
    """Return the entries of an earlier data set, and its files, none where it was interrupted."""
    try:
        record = json.loads((out / _RECORD).read_text(encoding="utf-8"))
        return LAYOUTS[record["layout"]].entries, set(record.get("files", ()))
    except (OSError, ValueError, KeyError, TypeError):
        raise OutputError(
            f"{out} holds files that partdino synth did not write; choose another folder"
        ) from None
