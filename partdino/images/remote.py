"""Images behind a URL: on any file system that fsspec knows, such as S3, or in an archive."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fsspec import AbstractFileSystem
from fsspec.core import split_protocol, url_to_fs

from partdino.errors import InputError

_LOCAL = ("file", "local")
_PACKAGES = {
    **dict.fromkeys(("s3", "s3a"), "s3fs"),
    **dict.fromkeys(("gs", "gcs"), "gcsfs"),
    **dict.fromkeys(("az", "abfs"), "adlfs"),
    **dict.fromkeys(("http", "https"), "aiohttp requests"),
}
# What file systems say of a file that another version of it would not have; each says some of it.
_VERSION = (
    *("size", "ETag", "etag", "md5Hash", "content_md5", "CRC", "mtime", "LastModified"),
    *("last_modified", "updated", "created"),
)


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file behind a URL.

    Attributes
    ----------
    url
        Where it is.
    version
        Changes with its content.
    """

    url: str
    version: str


def as_location(given: Path | str) -> Path | str:
    """Return a path, that of a ``file://`` URL too, or else a URL, which is text."""
    if not is_url(given):
        return Path(given)
    protocol, path = split_protocol(given)
    return Path(path) if protocol in _LOCAL else given


def is_url(location: Path | str) -> bool:
    """Tell a URL from a path: a `Path` is never one."""
    return isinstance(location, str) and "://" in location


def tree_path(location: Path | str) -> str:
    """Return a place in one tree for all paths and URLs.

    That of a path is the absolute path; ``s3://bucket/a.jpg`` is at ``/s3/bucket/a.jpg``, and what
    is in an archive is below the archive.
    """
    if not is_url(location):
        return os.path.abspath(location)
    *archived, outermost = str(location).split("::")
    inside = (link.partition("://")[2] for link in reversed(archived))
    places = (place.strip("/") for place in (outermost.replace("://", "/"), *inside))
    return posixpath.normpath(posixpath.join("/", *places))


def list_remote(url: str, suffixes: Sequence[str]) -> tuple[str, list[RemoteFile], list[str]]:
    """List the images behind a URL: those of a folder, at any depth, or a single file.

    Hidden entries and the output folders of earlier runs are skipped.

    Returns
    -------
    folder
        The `tree_path` of the folder.
    files
        A single file whatever its suffix.
    others
        The names of the folder's other files.

    Raises
    ------
    InputError
        There is nothing there, or it cannot be listed.
    """
    filesystem, path = _open(url)
    try:
        if filesystem.isdir(path):
            found = filesystem.find(path, detail=True)
            visible = list(_visible(found, path))
            images = [name for name in visible if name.lower().endswith(tuple(suffixes))]
            others = [name for name in visible if not name.lower().endswith(tuple(suffixes))]
            return tree_path(url), [_file(filesystem, url, found[name]) for name in images], others
        if filesystem.exists(path):
            file = _file(filesystem, url, filesystem.info(path))
            return posixpath.dirname(tree_path(url)), [file], []
    except Exception as error:  # every file system has exceptions of its own
        raise InputError(
            f"{url} cannot be listed ({_words(error)}); check the address and your credentials"
        ) from error
    raise InputError(f"{url} does not exist; check the address")


def fetch(url: str) -> bytes:
    """Return the content of a file; raises whatever its file system does."""
    filesystem, path = url_to_fs(url)
    return filesystem.cat_file(path)


def _open(url: str) -> tuple[AbstractFileSystem, str]:
    try:
        return url_to_fs(url)
    except ImportError as error:
        package = _PACKAGES.get(split_protocol(url)[0])
        cure = f"pip install {package}" if package else _words(error)
        raise InputError(f"{url} needs a package that is not installed: {cure}") from error
    except Exception as error:
        raise InputError(f"{url} cannot be opened ({_words(error)}); check the address") from error


def _visible(found: Mapping[str, Any], root: str) -> Iterator[str]:
    outputs = {posixpath.dirname(name) for name in found if name.endswith("/run.json")}
    outputs = {
        folder for folder in outputs if any(n.startswith(f"{folder}/labels/") for n in found)
    }
    for name in found:
        inside = name[len(root) :].strip("/")
        hidden = any(part.startswith(".") for part in inside.split("/"))
        in_output = any(name.startswith(f"{folder}/") for folder in outputs)
        if not hidden and not in_output:
            yield name


def _file(filesystem: AbstractFileSystem, url: str, info: Mapping[str, Any]) -> RemoteFile:
    _, link, archive = url.partition("::")
    version = " ".join(str(info[key]) for key in _VERSION if key in info)
    return RemoteFile(filesystem.unstrip_protocol(info["name"]) + link + archive, version)


def _words(error: Exception) -> str:
    return " ".join(f"{error or type(error).__name__!s:.150}".split())
