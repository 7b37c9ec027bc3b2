"""Which images the inputs name: they become one sorted list without doubles."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from partdino.errors import InputError
from partdino.images.formats import image_suffixes, unread_sentence
from partdino.images.listing import Found, ImageFile, ImageList
from partdino.images.remote import RemoteFile, as_location, tree_path
from partdino.images.remote_list import RemoteList, list_remote
from partdino.output_marks import is_output_folder

LIST_SUFFIXES = (".txt", ".list")


def find_images(inputs: Sequence[Path | str], exclude: Path | None = None) -> list[ImageFile]:
    """List the images that the inputs name; see `search_images`."""
    return list(search_images(inputs, exclude)[0])


def search_images(
    inputs: Sequence[Path | str], exclude: Path | None = None, keep: Path | None = None
) -> tuple[ImageList, dict[str, int]]:
    """List the images that the inputs name, and count what is not read.

    A folder is searched recursively for the suffixes of `image_suffixes` (any case). Hidden entries
    and the output folders of earlier runs are skipped; links to folders are followed, each real
    folder once. A file is taken whatever its suffix, except that ``.txt`` and ``.list`` are lists:
    one file or folder a line, relative to the list's folder, with blank lines and lines starting
    with ``#`` skipped. What a list names but does not exist, or cannot be listed, is returned:
    reading it fails, and the other images still go through.

    A URL, such as ``s3://bucket/folder``, is a folder or an image on a file system of fsspec. It is
    searched in the same way; lists may hold URLs, but are local themselves.

    Parameters
    ----------
    inputs
        Folders, files, lists and URLs; a `Path` is never a URL.
    exclude
        A folder to leave out: the output, in case it lies inside an input.
    keep
        Where lists of folders behind URLs are kept, or were; see `list_remote`.

    Returns
    -------
    images
        Sorted by name, the same real file only once. Names are relative to the input folder, or to
        the deepest folder that holds all inputs that exist where there are several. What a list
        names outside its own folder does not count for that unless all is so: its name is its path
        from the root.
    unread
        How many files of each suffix, in lower case, the folders hold that are none of these.

    Raises
    ------
    InputError
        An input is missing, is the excluded folder, cannot be listed, or no image was found; or two
        images have one name (see `ImageFile`).
    """
    output = os.path.realpath(exclude) if exclude else None
    roots: set[str] = set()
    stray: set[str] = set()  # of what lists name outside their own folders
    found = Found()
    unread: Counter[str] = Counter()
    for given, source in _sources(inputs):
        folders = roots if _belongs(source, given) else stray
        if isinstance(source, str):
            try:
                listed = list_remote(source, keep)
            except InputError:
                if source == given:
                    raise
                found.add_remote([RemoteFile(source, "missing")])
                continue
            folders.add(listed.folder)
            found.add_remote(_images_behind(listed, unread))
        elif os.path.isdir(source):
            folders.add(os.path.abspath(source))
            found.add(_walk(source, output, unread))
        else:
            if os.path.exists(source):
                folders.add(os.path.dirname(os.path.abspath(source)))
            found.add([str(source)])
    root = os.path.commonpath(roots or stray or ["/"])
    images = found.named(partial(_name, root=root))
    if not images:
        places = ", ".join(printable(given) for given in inputs) or "an empty list of inputs"
        passed = unread_sentence(unread) or f"looked for {' '.join(image_suffixes())}"
        raise InputError(f"no images in {places} ({passed})")
    return images, dict(unread)


def printable(path: Path | str) -> str:
    """Return a path as text that can be printed and stored as UTF-8, whatever bytes it holds."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _sources(inputs: Sequence[Path | str]) -> Iterator[tuple[Path | str, Path | str]]:
    """Yield every input with the files, folders and URLs that it is."""
    for given in map(as_location, inputs):
        for source in _places(given):
            yield given, source


def _belongs(source: Path | str, given: Path | str) -> bool:
    """Return whether a source is an input itself, or a line of a list about the list's folder."""
    folder = os.path.dirname(tree_path(given))
    return source == given or os.path.commonpath([tree_path(source), folder]) == folder


def _places(given: Path | str) -> Iterator[Path | str]:
    """Yield the files, folders and URLs that one input is: itself, or the lines of a list."""
    if isinstance(given, str):
        yield given
        return
    if not os.path.exists(given):
        raise InputError(f"{printable(given)} does not exist; check the path")
    if os.path.isdir(given) or given.suffix.lower() not in LIST_SUFFIXES:
        yield given
        return
    for line in _lines(given):
        if line and not line.startswith("#"):
            place = as_location(line)
            yield place if isinstance(place, str) else given.parent / place


def _lines(file: Path) -> Iterator[str]:
    try:
        # Not every path is UTF-8: surrogates stand for the odd bytes, as in all of Python's os.
        with file.open(encoding="utf-8-sig", errors="surrogateescape") as text:
            for line in text:
                if "\0" in line:
                    raise InputError(
                        f"{printable(file)} is not text; a list holds one image path a line"
                    )
                yield from map(str.strip, line.splitlines())
    except OSError as error:
        reason = f"cannot read {printable(file)}: {error.strerror}; make it readable"
        raise InputError(reason) from error


def _walk(root: Path, output: str | None, unread: Counter[str]) -> Iterator[str]:
    """Yield the images below a folder; linked folders come last, so that real paths win.

    What is none is counted in `unread`.
    """
    if os.path.realpath(root) == output:
        raise InputError(f"{printable(root)} is both input and output; choose another --out")
    seen = {output}
    pending = [str(root)]
    for start in pending:
        folders = [start]
        while folders:
            folder = folders.pop()
            real = os.path.realpath(folder)
            # Otherwise the overlays of one run would be photos to the next one.
            if real in seen or is_output_folder(folder):
                continue
            seen.add(real)
            below: list[str] = []
            try:
                with os.scandir(folder) as entries:  # of which there may be millions
                    yield from _images_among(entries, below, unread)
            except OSError:
                # Reading such a folder as an image fails: it is reported, and the rest goes on.
                yield folder
            below.sort()
            pending.extend(place for place in below if os.path.islink(place))
            folders.extend(place for place in reversed(below) if not os.path.islink(place))


def _images_among(
    entries: Iterable[os.DirEntry[str]], below: list[str], unread: Counter[str]
) -> Iterator[str]:
    """Yield the images of a folder, add the folders in it to `below`, and count the rest."""
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            below.append(entry.path)
        elif entry.is_file() or entry.is_symlink():
            if _suffix(entry.name) in image_suffixes():
                yield entry.path
            else:
                unread[_suffix(entry.name)] += 1


def _images_behind(listed: RemoteList, unread: Counter[str]) -> Iterator[RemoteFile]:
    for file in listed:
        suffix = _suffix(file.url.partition("::")[0])
        if listed.is_file or suffix in image_suffixes():
            yield file
        else:
            unread[suffix] += 1


def _suffix(name: str) -> str:
    return os.path.splitext(name)[1].lower()


def _name(path: str, root: str) -> str:
    place = tree_path(path)
    if os.sep == "/" and place.startswith(f"{root}/"):  # as nearly all do, and quickly found
        return printable(place[len(root) + 1 :])
    # What is elsewhere is a line of a list that leads nowhere.
    inside = os.path.commonpath([place, root]) == root
    return printable(Path(os.path.relpath(place, root if inside else "/")).as_posix())
